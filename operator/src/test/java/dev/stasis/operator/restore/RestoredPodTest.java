package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestoredPodTest extends RestoreScenario {

  /** The agent of an eviction reported the end of the workload only after the failure. */
  @Test
  void theRestoreOfALateEvictionStaysAsLongAsItsCheckpoint() {
    checkpoint.orElseThrow().getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    checkpoint.orElseThrow().getStatus().setPhase(CheckpointPhase.FAILED);
    fakes.cluster.checkpoints.add(checkpoint.orElseThrow());
    restore.getSpec().getOptions().setTtlSecondsAfterFinished(0);
    restore.getStatus().setPhase(RestorePhase.SUCCEEDED);
    restore.getStatus().setPhases(List.of(new PhaseTime<>(RestorePhase.SUCCEEDED, NOW)));

    assertThat(fakes.workflow().rest(context(null, null))).contains(Duration.ofHours(1));
  }
}
