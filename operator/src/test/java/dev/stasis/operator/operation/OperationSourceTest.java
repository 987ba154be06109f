package dev.stasis.operator.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.operator.cluster.Changed;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OperationSourceTest {

  /** Its request would delete it a second time. */
  @Test
  void onlyTheReleaseOfAFinishedOperationTriggersNothing() {
    GpuNodeOperation running = operation(OperationPhase.RUNNING, true);
    GpuNodeOperation finished = operation(OperationPhase.SUCCEEDED, true);
    GpuNodeOperation released = operation(OperationPhase.SUCCEEDED, false);

    assertThat(isReleased(finished, released)).isTrue();

    assertThat(isReleased(null, finished)).isFalse();
    assertThat(isReleased(running, finished)).isFalse();
    // The agent reports a thaw after the end.
    assertThat(isReleased(finished, finished)).isFalse();
    // Another client removed the finalizer too early.
    assertThat(isReleased(running, operation(OperationPhase.RUNNING, false))).isFalse();
    assertThat(isReleased(running, released)).isFalse();
    // The deletion, for which a deleted request waits.
    assertThat(isReleased(released, null)).isFalse();
    assertThat(isReleased(finished, null)).isFalse();
  }

  private static boolean isReleased(
      @Nullable GpuNodeOperation before, @Nullable GpuNodeOperation after) {
    return OperationSource.isReleased(
        new Changed<>(Optional.ofNullable(before), Optional.ofNullable(after)));
  }

  private static GpuNodeOperation operation(OperationPhase phase, boolean kept) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setMetadata(
        new ObjectMetaBuilder().withFinalizers(kept ? List.of(Api.FINALIZER) : List.of()).build());
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setPhase(phase);
    operation.setStatus(status);
    return operation;
  }
}
