package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.PhaseTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class PhaseLogTest {

  private static final Instant START = Instant.parse("2026-11-21T10:00:02.7Z");

  private final PhaseLog<CheckpointPhase> empty = new PhaseLog<>(List.of());

  @Test
  void everyPhaseHasItsTime() {
    PhaseLog<CheckpointPhase> log =
        empty
            .entered(CheckpointPhase.PENDING, START)
            .entered(CheckpointPhase.FREEZING, START.plusSeconds(2));

    assertThat(log.times())
        .containsExactly(
            new PhaseTime<>(CheckpointPhase.PENDING, Instant.parse("2026-11-21T10:00:02Z")),
            new PhaseTime<>(CheckpointPhase.FREEZING, Instant.parse("2026-11-21T10:00:04Z")));
    assertThat(log.current()).contains(CheckpointPhase.FREEZING);
  }

  @Test
  void seeingAPhaseAgainChangesNothing() {
    PhaseLog<CheckpointPhase> log = empty.entered(CheckpointPhase.PENDING, START);

    assertThat(log.entered(CheckpointPhase.PENDING, START.plusSeconds(9))).isSameAs(log);
  }

  @Test
  void aPhaseThatCannotFollowIsRefused() {
    PhaseLog<CheckpointPhase> log =
        empty
            .entered(CheckpointPhase.PENDING, START)
            .entered(CheckpointPhase.FAILED, START.plusSeconds(1));

    assertThatThrownBy(() -> log.entered(CheckpointPhase.READY, START.plusSeconds(2)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("phase: after Failed expected one of [], got Ready");
  }

  @Test
  void aPhaseThatPassedWhileNoOperatorWasThereIsSkipped() {
    PhaseLog<CheckpointPhase> log =
        empty
            .entered(CheckpointPhase.PENDING, START)
            .entered(CheckpointPhase.READY, START.plusSeconds(9));

    assertThat(log.times())
        .extracting(PhaseTime::phase)
        .containsExactly(CheckpointPhase.PENDING, CheckpointPhase.READY);
  }

  @Test
  void aClockThatGoesBackDoesNotTurnTheOrderAround() {
    PhaseLog<CheckpointPhase> log =
        empty
            .entered(CheckpointPhase.PENDING, START)
            .entered(CheckpointPhase.FREEZING, START.minusSeconds(60));

    assertThat(log.times()).extracting(PhaseTime::time).isSorted();
  }

  @Test
  void aWorkloadThatIsSuspendedAgainAndAgainDoesNotGrowItsStatus() {
    PhaseLog<CheckpointPhase> log =
        empty
            .entered(CheckpointPhase.PENDING, START)
            .entered(CheckpointPhase.FREEZING, START)
            .entered(CheckpointPhase.SUSPENDED, START);
    for (int i = 0; i < 100; i++) {
      log =
          log.entered(CheckpointPhase.RESUMING, START.plusSeconds(i))
              .entered(CheckpointPhase.SUSPENDED, START.plusSeconds(i));
    }

    assertThat(log.times()).hasSize(50);
    assertThat(log.times().get(0).phase()).isEqualTo(CheckpointPhase.PENDING);
    assertThat(log.first(CheckpointPhase.FREEZING))
        .as("the time of the artifact")
        .contains(Instant.parse("2026-11-21T10:00:02Z"));
  }
}
