package dev.stasis.agent.direct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a stand-in for the program, which listens and says nothing. */
class GpuAnchorTest {

  private static final Duration SOON = Duration.ofSeconds(30);

  private static final String LISTENS =
      """
      exec python3 -c '
      import socket, sys
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen()
      s.settimeout(20)
      while True:
          c, _ = s.accept()
          c.settimeout(20)
          c.recv(1)
          s.settimeout(float(sys.argv[2]) / 1000)' "$2" "$3"
      """;

  @TempDir Path folder;

  private final ProcFs proc = new ProcFs();

  private GpuAnchor anchor(String script) throws Exception {
    Path program = script("keeper", "echo $$ >>" + folder + "/started\n" + script);
    Path runtime = script("runtime", "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"");
    return new GpuAnchor(
        new KeeperSettings(program, Duration.ofSeconds(1), Map.of()), runtime, folder);
  }

  private Path script(String name, String text) throws Exception {
    Path program = folder.resolve(name);
    Files.writeString(program, "#!/bin/sh\n" + text + "\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return program;
  }

  private List<Integer> started() throws Exception {
    Path file = folder.resolve("started");
    return Files.exists(file)
        ? Files.readAllLines(file).stream().map(Integer::valueOf).toList()
        : List.of();
  }

  @Test
  void theNextAgentTakesTheAnchorOverAndWithoutOneItEnds() throws Exception {
    try (GpuAnchor first = anchor(LISTENS)) {
      first.start();
      Awaitility.await().atMost(SOON).until(first::held);
    }
    try (GpuAnchor second = anchor(LISTENS)) {
      second.start();
      Awaitility.await().atMost(SOON).until(second::held);
      assertThat(started()).hasSize(1);
    }
    int pid = started().get(0);
    Awaitility.await("it ends").atMost(SOON).until(() -> proc.stat(pid).isEmpty());
  }

  @Test
  void withoutADriverNothingIsHeldAndTheAgentGoesOn() throws Exception {
    try (GpuAnchor anchor = anchor("echo no driver >&2; exit 1")) {
      anchor.start();
      Path log = folder.resolve("gpu-anchor.log");
      Awaitility.await()
          .atMost(SOON)
          .until(() -> Files.exists(log) && Files.readString(log).contains("no driver"));
      assertThat(anchor.held()).isFalse();
    }
  }

  @Test
  void withoutTheProgramNothingIsStarted() throws Exception {
    try (GpuAnchor anchor =
        new GpuAnchor(
            KeeperSettings.of(folder.resolve("none")), folder.resolve("runtime"), folder)) {
      anchor.start();
      assertThat(anchor.held()).isFalse();
      assertThat(folder.resolve("gpu-anchor.log")).doesNotExist();
    }
  }
}
