package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.store.ImportPolicy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A namespace is its uid: its name may be given to others. */
class ImportedNamespaceTest {

  @Test
  void aCheckpointTellsTheAgentTheUidOfItsNamespace() {
    World world = Samples.world(spec -> {}).settle();

    FreezeOrder order =
        Objects.requireNonNull(
            world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getFreeze());
    assertThat(order.getNamespaceUid()).isEqualTo("namespace-1");
  }

  @Test
  void anArtifactOfAnEarlierNamespaceIsRefusedUnlessTheStoreAllowsIt() {
    for (String uid : new String[] {"namespace-0", null}) {
      World world = ImportArtifactTest.world().settle();
      ImportArtifactTest.says(world);
      agentSaysNamespaceUid(world, uid);
      assertThat(world.settle().condition("Ready"))
          .startsWith("False/OtherNamespace: namespace uid of the artifact: expected namespace-1,")
          .endsWith("got " + (uid == null ? "none" : uid));
      assertThat(world.status().getArtifact()).isNull();

      World allowed = ImportArtifactTest.world().settle();
      allowed.cluster.stores.get(0).getSpec().getOptions().setImports(new ImportPolicy(true, null));
      ImportArtifactTest.says(allowed);
      agentSaysNamespaceUid(allowed, uid);
      assertThat(allowed.settle().phase()).isEqualTo(CheckpointPhase.READY);
    }
  }

  private static void agentSaysNamespaceUid(World world, @Nullable String uid) {
    GpuNodeOperation operation = world.operation(OperationType.IMPORT, 1).orElseThrow();
    Objects.requireNonNull(operation.getStatus().getArtifact()).setNamespaceUid(uid);
  }
}
