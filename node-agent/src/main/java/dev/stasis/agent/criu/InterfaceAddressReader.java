package dev.stasis.agent.criu;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RuntimeQuestion;
import dev.stasis.artifact.InterfaceAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the addresses of a container's network interfaces by {@code stasis-runtime addresses}. */
public final class InterfaceAddressReader {

  /** A pod has a handful. */
  private static final int MOST = 1024;

  private final Path runtime;

  public InterfaceAddressReader(Path runtime) {
    this.runtime = runtime;
  }

  /**
   * Returns the addresses in the kernel's order, without those of the loopback.
   *
   * @param process a process of the container
   * @throws IOException if they cannot be read, with the reason
   */
  public List<InterfaceAddress> read(ProcessId process) throws IOException, InterruptedException {
    List<InterfaceAddress> addresses = new ArrayList<>();
    for (String line : new RuntimeQuestion(runtime, "addresses", MOST).ask(process)) {
      int space = line.lastIndexOf(' ');
      addresses.add(new InterfaceAddress(line.substring(0, space), line.substring(space + 1)));
    }
    return addresses;
  }
}
