package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import org.junit.jupiter.api.Test;

/** What a migration says that cannot be begun, or not yet. */
@SuppressWarnings("NullAway") // what is not there fails the test
class MigrationRefusalsApiServerTest extends OnApiServer {

  @Test
  void badInputIsRefusedWithItsReasonAndNothingIsTouched() {
    migrate("a", it -> it.getSpec().setPodName("nobody"));
    refused("a", "podName: wanted nobody in namespace " + namespace + ", found no such pod");
    migrate("b", it -> it.getSpec().setOrder(MigrationOrder.SOURCE_FIRST));
    refused(
        "b",
        "store: wanted one that both nodes reach, a sharedPath, which order: SourceFirst brings"
            + " the pod back from, found local, a disk of its node; set spec.store");
    String own = pod("trainer").getSpec().getNodeName();
    migrate("c", it -> it.getSpec().setTarget(new Target(own, null, null, null)));
    refused("c", "target.nodeName: wanted another node than the pod's own, found " + own);
    migrate("d", it -> it.getSpec().setPodUid("other"));
    refused("d", "podUid: wanted other, found " + pod("trainer").getMetadata().getUid());
    assertThat(agents.running).containsExactly("trainer");
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void withoutANodeItWaitsWithTheReasonsOfEach() {
    migrate("move", it -> it.getSpec().setTarget(new Target("nowhere", null, null, null)));
    GpuMigration waiting = until("move", it -> "NoNodeFits".equals(it.getStatus().getReason()));
    assertThat(waiting.getStatus().getMessage())
        .isEqualTo(
            "target.nodeName: wanted a node with GPUs and an agent, found none named nowhere");
    assertThat(waiting.getStatus().getNodes()).hasSize(2);

    cancel("move");
    until("move", it -> phase(it) == MigrationPhase.CANCELLED);
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void aSecondMigrationOfThePodIsRefused() {
    agents.stop(OperationType.RESTORE);
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    migrate("too", it -> {});

    refused(
        "too",
        "podName: wanted a pod that nothing else moves, found trainer, which GpuMigration "
            + "move moves");
    agents.goOn(OperationType.RESTORE);
    until("move", it -> phase(it) == MigrationPhase.SUCCEEDED);
  }

  private void refused(String name, String sentence) {
    GpuMigration over = until(name, it -> isFinal(it));
    assertThat(phase(over)).isEqualTo(MigrationPhase.FAILED);
    assertThat(over.getStatus().getMessage()).isEqualTo(sentence);
    client.resource(over).delete();
  }
}
