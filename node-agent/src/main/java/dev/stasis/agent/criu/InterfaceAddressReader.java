package dev.stasis.agent.criu;

import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.InterfaceAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads the addresses of a container's network interfaces by {@code stasis-runtime addresses}. */
public final class InterfaceAddressReader {

  /** The kernel answers in a millisecond; a machine that needs more than that is in trouble. */
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  /** A pod has a handful. What is printed beyond it is not kept. */
  private static final int MOST = 1024;

  private final Path runtime;

  /**
   * A reader.
   *
   * @param runtime the program stasis-runtime
   */
  public InterfaceAddressReader(Path runtime) {
    this.runtime = runtime;
  }

  /**
   * Returns the addresses in the order of the kernel, without those of the loopback.
   *
   * @param process one of the container's
   * @throws IOException when they cannot be read, with the reason
   */
  public List<InterfaceAddress> read(ProcessId process) throws IOException, InterruptedException {
    Process child =
        new ChildStart()
            .start(
                new ProcessBuilder(
                        runtime.toString(),
                        "addresses",
                        "--pid",
                        Integer.toString(process.pid()),
                        "--start",
                        Long.toString(process.startTime()))
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectErrorStream(true));
    try {
      return awaited(child);
    } finally {
      child.destroyForcibly();
    }
  }

  private static List<InterfaceAddress> awaited(Process child)
      throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>();
    if (!child.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IOException("not read within " + DEADLINE.toSeconds() + " s");
    }
    try (BufferedReader output = child.inputReader(StandardCharsets.UTF_8)) {
      for (String line = output.readLine();
          line != null && lines.size() < MOST;
          line = output.readLine()) {
        lines.add(line);
      }
    }
    if (child.exitValue() != 0) {
      throw new IOException(String.join("; ", lines));
    }
    List<InterfaceAddress> addresses = new ArrayList<>();
    for (String line : lines) {
      int space = line.lastIndexOf(' ');
      addresses.add(new InterfaceAddress(line.substring(0, space), line.substring(space + 1)));
    }
    return addresses;
  }
}
