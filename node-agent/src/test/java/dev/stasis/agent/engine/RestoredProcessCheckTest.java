package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RestoredProcessCheckTest {

  private static final ProcessId FIRST = new ProcessId(500, 7);
  private static final ProcessId TRAINER = new ProcessId(501, 8);
  private static final ProcessId CHILD = new ProcessId(502, 9);
  private static final long BY_A_SIGNAL = 0x400;
  private static final int EXIT_CODE_3 = 3 << 8;
  private static final int SIGSEGV = 11;

  private final Map<ProcessId, ProcessStat> seen = new HashMap<>();

  RestoredProcessCheckTest() {
    for (ProcessId process : Set.of(FIRST, TRAINER, CHILD)) {
      see(process, 'S', 0, 0);
    }
  }

  @Test
  void everyLivingProcessIsReturned() throws StepFailure {
    assertThat(survivors().living()).containsOnlyKeys(7, 8, 9);
  }

  @Test
  void aChildMayComeToItsOwnEnd() throws StepFailure {
    see(CHILD, 'Z', 0, EXIT_CODE_3);
    assertThat(survivors().living()).containsOnlyKeys(7, 8);

    seen.remove(CHILD);
    assertThat(survivors().living()).containsOnlyKeys(7, 8);
  }

  @Test
  void aChildThatASignalEndsIsNoProof() {
    see(CHILD, 'Z', BY_A_SIGNAL, SIGSEGV);

    assertThatThrownBy(() -> survivors().living())
        .isInstanceOf(StepFailure.class)
        .hasMessage(
            "process 9 of the container (python3, 502@9 on the node): expected a running process, got one that ended (signal 11)");
  }

  @Test
  void theFirstProcessMustBeAlive() {
    seen.remove(FIRST);

    assertThatThrownBy(() -> survivors().living())
        .hasMessage(
            "process 7 of the container (500@7 on the node): expected a running process, got one that ended");
  }

  @Test
  void aProcessThatUsesAGpuMustBeAlive() {
    see(TRAINER, 'Z', 0, EXIT_CODE_3);

    assertThatThrownBy(() -> survivors().living())
        .hasMessage(
            "process 8 of the container (python3, 501@8 on the node): expected a running process, got one that ended (exit code 3)");
  }

  @Test
  void noneMayEndWhileAllAreStopped() throws StepFailure {
    survivors().requireAll();

    see(CHILD, 'T', BY_A_SIGNAL, 0);
    assertThatThrownBy(() -> survivors().requireAll())
        .isInstanceOfSatisfying(
            StepFailure.class, failure -> assertThat(failure.reason()).isEqualTo(Reason.NOT_PROVEN))
        .hasMessage(
            "process 9 of the container (python3, 502@9 on the node): expected a running process, got one that ended");

    see(CHILD, 'Z', 0, EXIT_CODE_3);
    assertThatThrownBy(() -> survivors().requireAll()).hasMessageEndingWith("(exit code 3)");

    seen.remove(CHILD);
    assertThatThrownBy(() -> survivors().requireAll()).hasMessageEndingWith("got one that ended");
  }

  private RestoredProcessCheck survivors() {
    return new RestoredProcessCheck(
        Map.of(7, FIRST, 8, TRAINER, 9, CHILD),
        Set.of(TRAINER),
        process -> Optional.ofNullable(seen.get(process)));
  }

  private void see(ProcessId process, char state, long flags, int waitStatus) {
    seen.put(
        process,
        new ProcessStat(
            process.pid(),
            "python3",
            state,
            1,
            1,
            0,
            flags,
            0,
            1,
            process.startTime(),
            0,
            waitStatus));
  }
}
