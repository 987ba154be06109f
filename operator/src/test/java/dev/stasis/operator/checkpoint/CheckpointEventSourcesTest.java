package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.cluster.Changed;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CheckpointEventSourcesTest {

  private final Pod pod =
      new PodBuilder()
          .withNewMetadata()
          .withName("trainer")
          .withResourceVersion("1")
          .endMetadata()
          .withNewSpec()
          .endSpec()
          .withNewStatus()
          .withPhase("Running")
          .endStatus()
          .build();

  /** The operator wrote it itself, and knows it. */
  @Test
  void onlyTheReportOfAFreezeOnAPodTriggersNothing() {
    Pod frozen = condition(Api.FROZEN_POD_CONDITION, "2");
    assertThat(isFrozenConditionOnly(pod, frozen)).isTrue();
    assertThat(isFrozenConditionOnly(frozen, pod)).isTrue();

    assertThat(isFrozenConditionOnly(pod, condition("PodResizePending", "2"))).isFalse();
    Pod leaves =
        new PodBuilder(frozen)
            .editMetadata()
            .withDeletionTimestamp("2026-11-25T10:00:00Z")
            .endMetadata()
            .build();
    assertThat(isFrozenConditionOnly(pod, leaves)).isFalse();
    Pod ended = new PodBuilder(frozen).editStatus().withPhase("Failed").endStatus().build();
    assertThat(isFrozenConditionOnly(pod, ended)).isFalse();
    assertThat(
            CheckpointEventSources.isFrozenConditionOnly(
                new Changed<>(Optional.of(frozen), Optional.empty())))
        .isFalse();
  }

  private static boolean isFrozenConditionOnly(Pod before, Pod after) {
    return CheckpointEventSources.isFrozenConditionOnly(
        new Changed<>(Optional.of(before), Optional.of(after)));
  }

  private Pod condition(String type, String version) {
    return new PodBuilder(pod)
        .editMetadata()
        .withResourceVersion(version)
        .endMetadata()
        .editStatus()
        .addNewCondition()
        .withType(type)
        .withStatus("True")
        .endCondition()
        .endStatus()
        .build();
  }
}
