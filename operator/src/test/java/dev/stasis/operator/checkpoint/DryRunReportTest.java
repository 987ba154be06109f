package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class DryRunReportTest {

  private final World world = Samples.world(spec -> spec.getOptions().setDryRun(true));

  @Test
  void aDryRunReportsTheFindingsAndFreezesNothing() {
    world.settle();
    assertThat(
            Objects.requireNonNull(
                    world
                        .operation(OperationType.CHECKPOINT, 1)
                        .orElseThrow()
                        .getSpec()
                        .getFreeze())
                .getDryRun())
        .isTrue();
    world.agent(OperationType.CHECKPOINT, 1).expects(2L << 30).succeeds(WorkloadState.RUNNING);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.EXPLAINED);
    assertThat(world.condition("Feasible")).isEqualTo("True/Feasible: about 2.0Gi, 14.1s frozen");
    assertThat(world.status().getReason()).isEqualTo("NoArtifact");
    assertThat(world.condition("Restorable")).startsWith("True/NodesFit");
    assertThat(Objects.requireNonNull(world.status().getNodes())).hasSize(1);
    assertThat(world.status().getArtifact()).isNull();
    assertThat(world.marks).isEmpty();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void oneThatIsBoundToItsPodIsFeasibleAndNotRestorable() {
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .succeeds(WorkloadState.RUNNING)
        .findsTheWorkloadBoundToItsPod();
    world.settle();

    assertThat(world.condition("Feasible")).startsWith("True/Feasible");
    assertThat(world.condition("Restorable")).startsWith("False/NotPortable: socket address");
    assertThat(world.status().getNodesFit()).isZero();
    assertThat(Objects.requireNonNull(world.status().getExplanation()).notPortable()).hasSize(1);
  }

  @Test
  void everyReasonAgainstItIsToldTheMissingAgentToo() {
    world.checkpoint.getSpec().setStorageRef(NameReference.ofNullable("nfs"));
    world.cluster.gpuNodes.clear();
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.EXPLAINED);
    assertThat(world.condition("Feasible")).startsWith("False/PreflightRefused");
    Explanation explanation = Objects.requireNonNull(world.status().getExplanation());
    assertThat(Objects.requireNonNull(explanation.faults()))
        .extracting(Fault::reason)
        .containsExactly("StoreNotFound", "WaitingForAgent");
    assertThat(explanation.expectedFrozen()).isNull();
    assertThat(world.condition("Restorable")).isEqualTo("none");
    assertThat(world.condition("Failed")).isEqualTo("none");
  }
}
