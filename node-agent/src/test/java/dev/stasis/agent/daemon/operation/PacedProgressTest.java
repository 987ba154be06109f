package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PacedProgressTest {

  private final ActiveOperation operation = operation();

  private static ActiveOperation operation() {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.VERIFY);
    spec.setNodeName("n");
    spec.setRequester(new ObjectReference("GpuCheckpoint", "ml", "train", "uid-1"));
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.getMetadata().setName("verify");
    operation.setSpec(spec);
    return Orders.active(operation, OperationStage.CLAIMED);
  }

  @Test
  void noMoreIsReadThanTheRateAllows() {
    List<Long> heard = new ArrayList<>();
    long began = System.nanoTime();
    PacedProgress paced =
        new PacedProgress((done, total) -> heard.add(done), operation, 1000, System::nanoTime);

    paced.at(100, 300);
    paced.at(300, 300);

    // Less than a millisecond is not waited for.
    assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(298_000_000);
    assertThat(heard).contains(100L, 300L);
  }

  @Test
  void aCancellationEndsTheWait() {
    PacedProgress paced =
        new PacedProgress(
            (done, total) -> {
              if (operation.isCancelled()) {
                throw new IllegalStateException("cancelled");
              }
              if (done > 1) {
                operation.cancel("the test");
              }
            },
            operation,
            1,
            System::nanoTime);

    assertThatThrownBy(() -> paced.at(1_000_000, 1_000_000)).hasMessage("cancelled");
  }
}
