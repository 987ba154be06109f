package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcessId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How stasis-runtime is asked, with a script that stands in for it. */
class ThreadGuardTest {

  @TempDir Path folder;

  /** The kernel limits the arguments of a program. */
  @Test
  void theConnectionsOfAnyNumberOfProcessesAreCalmed() throws Exception {
    Path counts = folder.resolve("counts");
    Path runtime = folder.resolve("runtime");
    Files.writeString(
        runtime,
        "#!/bin/sh\nprintf '%s\\n' \"$@\" | grep -c -x '[0-9]*:[0-9]*' >>" + counts + "\n");
    Files.setPosixFilePermissions(runtime, PosixFilePermissions.fromString("rwx------"));
    List<ProcessId> processes =
        IntStream.range(0, 200_000).mapToObj(i -> new ProcessId(1_000_000 + i, 1)).toList();

    Optional<String> fault =
        new ThreadGuard(runtime, folder.resolve("guard"), child -> {}).calm(processes);

    assertThat(fault).isEmpty();
    assertThat(Files.readAllLines(counts).stream().mapToInt(Integer::parseInt).sum())
        .isEqualTo(processes.size());
  }
}
