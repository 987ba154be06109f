package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.container.TestPrograms;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How runs end, with scripts that stand in for criu. */
class CriuRunnerTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path folder;

  @Test
  void aRunThatAnotherProcessKilledIsReportedAsKilled() throws Exception {
    assertThat(new CriuRunner().dump(plan("kill -9 $$"), LONG, bytes -> {}))
        .isEqualTo(new CriuOutcome.Killed(9));
  }

  @Test
  void aRunThatIgnoresSigtermIsEndedWithItsChildren() throws Exception {
    Path child = folder.resolve("child");
    DumpPlan plan = plan("trap '' TERM; sleep 300 & echo $! >" + child + "; wait");
    // A shell starts in milliseconds; a busy machine is given time to do so.
    Duration allowed = Duration.ofSeconds(5);

    CriuOutcome outcome =
        new CriuRunner(handle -> {}, Duration.ofMillis(200)).dump(plan, allowed, bytes -> {});

    assertThat(outcome).isEqualTo(new CriuOutcome.TimedOut(allowed, true));
    int pid = Integer.parseInt(Files.readString(child).trim());
    // It is killed by then; the kernel takes a moment to end it.
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> new ProcFs().id(pid).filter(new ProcFs()::alive).isEmpty());
  }

  @Test
  void aFailureIsReadFromTheLog() throws Exception {
    DumpPlan plan =
        plan(
            "echo '(00.1) Error (criu/x.c:1): File a has bad size 1 (expect 2)' >"
                + folder.resolve("work/dump.log")
                + "; exit 1");

    CriuOutcome outcome = new CriuRunner().dump(plan, LONG, bytes -> {});

    assertThat(outcome)
        .isEqualTo(
            new CriuOutcome.Failed(
                new CriuFault(
                    CriuFault.Kind.FILE_CHANGED, "a", "File a has bad size 1 (expect 2)")));
  }

  @Test
  void theBytesWrittenAreReportedMeanwhile() throws Exception {
    List<Long> reports = new CopyOnWriteArrayList<>();
    Path pages = folder.resolve("images/pages-1.img");

    new CriuRunner()
        .dump(plan("head -c 5000 /dev/zero >" + pages + "; sleep 3"), LONG, reports::add);

    assertThat(reports).contains(5000L);
  }

  @Test
  void theAllowanceGrowsWithTheBytes() {
    assertThat(new CriuRunner().allowance(0)).hasMinutes(2);
    assertThat(new CriuRunner().allowance(50_000_000_000L)).hasSeconds(120 + 500);
  }

  private DumpPlan plan(String script) throws IOException, InterruptedException {
    CriuBundle bundle = new CriuBundle(Files.createDirectories(folder.resolve("bundle")));
    Files.writeString(bundle.program(), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(bundle.program(), PosixFilePermissions.fromString("rwxr-xr-x"));
    ProcFs proc = new ProcFs();
    Container self =
        ((Resolution.Found) new ContainerResolver(proc).byPid((int) ProcessHandle.current().pid()))
            .container();
    return new DumpPlan(
        new TestPrograms().runtime(),
        bundle,
        self,
        0,
        Files.createDirectories(folder.resolve("images")),
        Files.createDirectories(folder.resolve("work")),
        CriuOptions.usual());
  }
}
