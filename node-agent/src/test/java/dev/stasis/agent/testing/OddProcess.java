package dev.stasis.agent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/** The helper process of a counting container that opens whatever a test asks for. */
public final class OddProcess {

  /** Where it waits for requests. */
  public static final String FIFO = "/data/odd";

  /** An answer takes a millisecond; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final GpuContainer container;

  public OddProcess(GpuContainer container) {
    this.container = container;
  }

  /** Gives the container an address of each family, as a pod has. */
  public void giveAddresses() {
    Sh sh = new Sh();
    String pid = "" + container.pid();
    sh.must("nsenter", "-n", "-t", pid, "ip", "link", "set", "lo", "up");
    sh.must("nsenter", "-n", "-t", pid, "ip", "address", "add", "10.98.7.6/32", "dev", "lo");
    sh.must(
        "nsenter", "-n", "-t", pid, "ip", "address", "add", "fd00:98::6/128", "dev", "lo", "nodad");
  }

  /** Closes what the last request opened and does this one; skips the test where it cannot. */
  public void must(String request) {
    String answer = answer(request);
    Assumptions.assumeTrue(answer.endsWith(" done"), request + ": this machine says " + answer);
  }

  /** As {@link #must}, and returns how that ended: the request's name and {@code done}. */
  public String answer(String request) {
    try {
      Path folder = Path.of("/proc/" + container.pid() + "/root/data");
      Path answers = folder.resolve("odd.answers");
      int before = lines(answers).size();
      Awaitility.await("the helper").atMost(LIMIT).until(() -> Files.exists(folder.resolve("odd")));
      Files.writeString(folder.resolve("odd"), request + "\n", StandardOpenOption.WRITE);
      Awaitility.await("the answer to " + request)
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(5))
          .until(() -> lines(answers).size() > before);
      return lines(answers).get(before);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> lines(Path file) throws IOException {
    if (!Files.exists(file)) {
      return List.of();
    }
    String text = Files.readString(file);
    // The last line may be half written.
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }
}
