package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PidFdsTest {

  private final ProcFs proc = new ProcFs();
  private final PidFds pidFds = new PidFds(proc);

  @Test
  void theEndOfAProcessIsWaitedForAndASignalToItReachesNobodyElse() throws Exception {
    Process sleep = new ProcessBuilder("sleep", "100").start();
    ProcessId process = proc.id((int) sleep.pid()).orElseThrow();
    try (PidFd pidFd = pidFds.open(process).orElseThrow()) {
      assertThat(pidFd.awaitEnd(Duration.ofMillis(20))).isFalse();

      assertThat(pidFd.send(Signal.TERM)).isTrue();

      assertThat(pidFd.awaitEnd(Duration.ofSeconds(60))).isTrue();
      sleep.waitFor();
      assertThat(pidFd.send(Signal.KILL)).isFalse();
    }
    assertThat(pidFds.open(process)).isEmpty();
  }

  @Test
  void aPidThatNowBelongsToAnotherProcessIsNotOpened() throws Exception {
    Process sleep = new ProcessBuilder("sleep", "100").start();
    try {
      ProcessId now = proc.id((int) sleep.pid()).orElseThrow();

      assertThat(pidFds.open(new ProcessId(now.pid(), now.startTime() + 1))).isEmpty();
    } finally {
      sleep.destroyForcibly().waitFor();
    }
  }
}
