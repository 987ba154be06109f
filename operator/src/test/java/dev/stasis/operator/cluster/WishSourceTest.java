package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A reconciler hears of every wish, also of one that came while it wrote the status. */
class WishSourceTest {

  @Test
  void aDeletionHiddenByAStatusWriteTriggersAReconciliation() {
    // The framework takes this for the echo of its own write.
    GpuCheckpoint written = seen(1, 1);
    written.getMetadata().setDeletionTimestamp("2026-11-22T02:05:49Z");
    assertThat(wakes(seen(1, 1), written)).isTrue();
  }

  @Test
  void aSpecChangeHiddenByAStatusWriteTriggersAReconciliation() {
    assertThat(wakes(seen(2, 1), seen(2, 1))).isTrue();
  }

  @Test
  void aStatusWriteAloneTriggersNoReconciliation() {
    assertThat(wakes(seen(1, null), seen(1, 1))).isFalse();
    assertThat(wakes(seen(2, 1), seen(2, 2))).isFalse();
  }

  @Test
  void creationsAndDeletionsAreLeftToTheFramework() {
    assertThat(WishSource.unheeded(new Changed<>(Optional.empty(), Optional.of(seen(1, null)))))
        .isEmpty();
    assertThat(WishSource.unheeded(new Changed<>(Optional.of(seen(2, 1)), Optional.empty())))
        .isEmpty();
  }

  private static boolean wakes(GpuCheckpoint before, GpuCheckpoint after) {
    return !WishSource.unheeded(new Changed<>(Optional.of(before), Optional.of(after))).isEmpty();
  }

  private static GpuCheckpoint seen(
      long generation, @org.jspecify.annotations.Nullable Integer by) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("ml")
            .withName("train-1")
            .withGeneration(generation)
            .build());
    checkpoint.setStatus(new GpuCheckpointStatus());
    checkpoint.getStatus().setObservedGeneration(by == null ? null : by.longValue());
    return checkpoint;
  }
}
