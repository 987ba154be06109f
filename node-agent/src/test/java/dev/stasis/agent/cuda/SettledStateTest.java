package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.SettledState.Outcome.Gone;
import dev.stasis.agent.cuda.SettledState.Outcome.Settled;
import dev.stasis.agent.cuda.SettledState.Outcome.StillBusy;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The wait, on real processes whose only thread is taken for the one that copies. */
class SettledStateTest {

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration BRIEF = Duration.ofMillis(1500);

  private final SettledState settled = new SettledState(new ProcFs());
  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init")
  private DriverWorker driver;

  @SuppressWarnings("NullAway.Init")
  private Process process;

  @BeforeEach
  void noDriver() {
    driver =
        new DriverWorker(
            WorkerSettings.here(folder).withEnvironment(Map.of("STASIS_LIBCUDA", "/none")));
  }

  @AfterEach
  void end() {
    process.destroyForcibly().onExit().join();
    driver.close();
  }

  @Test
  void anIdleThreadIsSettledAfterASecondAndTheStateIsReadThen() throws IOException {
    long begin = System.nanoTime();

    SettledState.Outcome outcome = await(start("exec sleep 100"), DEADLINE);

    assertThat(outcome).isInstanceOf(Settled.class);
    assertThat(((Settled) outcome).state()).isInstanceOf(DriverAnswer.NoDriver.class);
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofSeconds(1));
  }

  @Test
  void aWorkingThreadIsWaitedFor() throws IOException {
    ProcessId busy =
        start("i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; : >done; exec sleep 100");

    assertThat(await(busy, DEADLINE)).isInstanceOf(Settled.class);
    assertThat(folder.resolve("done")).exists();
  }

  @Test
  void aThreadThatNeverRestsIsToldAtTheDeadline() throws IOException {
    SettledState.Outcome outcome = await(start("while :; do :; done"), BRIEF);

    assertThat(outcome).isInstanceOf(StillBusy.class);
    assertThat(((StillBusy) outcome).waited()).isGreaterThanOrEqualTo(BRIEF);
  }

  @Test
  void aStoppedThreadIsNotIdle() throws IOException, InterruptedException {
    ProcessId stopped = start("exec sleep 100");
    SimulatedNode.signal("STOP", stopped.pid());

    assertThat(await(stopped, BRIEF))
        .isInstanceOfSatisfying(StillBusy.class, busy -> assertThat(busy.state()).isEqualTo('T'));
  }

  @Test
  void aProcessThatEndsIsGone() throws IOException {
    ProcessId busy = start("until [ -e end ]; do :; done");
    Files.createFile(folder.resolve("end"));

    assertThat(await(busy, DEADLINE)).isInstanceOf(Gone.class);
  }

  @Test
  void anotherProcessWithThePidIsNotWaitedFor() throws IOException {
    ProcessId now = start("while :; do :; done");

    assertThat(await(new ProcessId(now.pid(), now.startTime() - 1), DEADLINE))
        .isInstanceOf(Gone.class);
  }

  private SettledState.Outcome await(ProcessId target, Duration patience) {
    return settled.await(driver, target, target.pid(), patience, DEADLINE);
  }

  private ProcessId start(String script) throws IOException {
    process = new ProcessBuilder("sh", "-c", script).directory(folder.toFile()).start();
    return new ProcFs().id((int) process.pid()).orElseThrow();
  }
}
