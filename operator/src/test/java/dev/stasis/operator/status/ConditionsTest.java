package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.ConditionValue;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConditionsTest {

  private static Conditions with(ConditionType type, ConditionValue value, Reason reason) {
    return new Conditions(List.of()).with(type, value, reason, "", 1L, Instant.EPOCH);
  }

  /** What follows up an eviction or a preemption deletes any other failed object after a while. */
  @Test
  void aFailedCheckpointIsKeptWhileItsArtifactMayBeRestored() {
    assertThat(
            with(ConditionType.READY, ConditionValue.TRUE, Reason.ARTIFACT_VERIFIED)
                .mayBeRestored())
        .isTrue();
    assertThat(
            with(ConditionType.SOURCE_RUNNING, ConditionValue.UNKNOWN, Reason.NODE_SILENT)
                .mayBeRestored())
        .isTrue();
    assertThat(
            with(ConditionType.SOURCE_RUNNING, ConditionValue.TRUE, Reason.THAWED).mayBeRestored())
        .isFalse();
    assertThat(with(ConditionType.READY, ConditionValue.FALSE, Reason.NODE_SILENT).mayBeRestored())
        .isFalse();
  }
}
