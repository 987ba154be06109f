package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.api.v1beta1.operation.OperationType;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a migration says that cannot be begun, or not yet. */
@SuppressWarnings("NullAway") // what is not there fails the test
class MigrationRefusalsApiServerTest extends OnApiServer {

  @Test
  void badInputIsRefusedWithItsReasonAndNothingIsTouched() {
    migrate("a", it -> it.getSpec().setPodRef(PodReference.of("nobody")));
    refused("a", "podRef.name: expected nobody in namespace " + namespace + ", got no such pod");
    migrate("b", it -> it.getSpec().setStrategy(MigrationStrategy.RECREATE));
    refused(
        "b",
        "store: expected a sharedPath with layout Files, which both nodes read; strategy: Recreate"
            + " restores the pod from it, got "
            + local
            + "; set spec.storageRef");
    String own = pod("trainer").getSpec().getNodeName();
    migrate("c", it -> it.getSpec().setTarget(new Target(own, null, null, null)));
    refused("c", "target.nodeName: expected another node than the pod's own, got " + own);
    migrate("d", it -> it.getSpec().setPodRef(new PodReference("trainer", "other")));
    refused("d", "podRef.uid: expected other, got " + pod("trainer").getMetadata().getUid());
    assertThat(agents.running).containsExactly("trainer");
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void withoutANodeItWaitsWithTheReasonsOfEach() {
    migrate("move", it -> it.getSpec().setTarget(new Target("nowhere", null, null, null)));
    GpuMigration waiting = until("move", it -> "NoNodeFits".equals(it.getStatus().getReason()));
    assertThat(waiting.getStatus().getMessage())
        .isEqualTo(
            "target.nodeName: expected a node with GPUs and an agent, got none named nowhere");
    assertThat(waiting.getStatus().getNodes()).hasSize(2);

    cancel("move");
    until("move", it -> phase(it) == MigrationPhase.CANCELLED);
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void aDiskOfThePodsOwnNodeKeepsItThere() {
    client.pods().inNamespace(namespace).withName("trainer").withGracePeriod(0).delete();
    disk("disk-of-" + namespace, first);
    client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("fed")
                .endMetadata()
                .withNewSpec()
                .addNewVolume()
                .withName("data")
                .withNewPersistentVolumeClaim("data", false)
                .endVolume()
                .addNewContainer()
                .withName("main")
                .withImage("registry.example/train:1")
                .withNewResources()
                .addToLimits("nvidia.com/gpu", new Quantity("1"))
                .addToLimits("memory", new Quantity("4Gi"))
                .endResources()
                .addNewVolumeMount()
                .withName("data")
                .withMountPath("/data")
                .endVolumeMount()
                .endContainer()
                .endSpec()
                .build())
        .create();
    agents.running.add("fed");
    client
        .pods()
        .inNamespace(namespace)
        .withName("fed")
        .waitUntilCondition(
            pod -> pod != null && "Running".equals(pod.getStatus().getPhase()),
            LONG.toSeconds(),
            TimeUnit.SECONDS);

    migrate("move", it -> it.getSpec().setPodRef(PodReference.of("fed")));

    GpuMigration waiting = until("move", it -> "NoNodeFits".equals(it.getStatus().getReason()));
    assertThat(waiting.getStatus().getNodes())
        .filteredOn(verdict -> verdict.node().equals(second))
        .singleElement()
        .satisfies(
            verdict ->
                assertThat(verdict.reasons())
                    .contains(
                        "spec.volumes[data]: expected a node that PersistentVolume disk-of-"
                            + namespace
                            + " allows, got another"));
    assertThat(pods()).containsExactly("fed");
    client.persistentVolumes().withName("disk-of-" + namespace).delete();
  }

  /** A disk of that node, which a claim named data has. */
  private void disk(String name, String node) {
    Map<String, Quantity> size = Map.of("storage", new Quantity("1Gi"));
    client
        .resource(
            new PersistentVolumeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withCapacity(size)
                .withAccessModes("ReadWriteMany")
                .withStorageClassName("")
                .withNewClaimRef()
                .withNamespace(namespace)
                .withName("data")
                .endClaimRef()
                .withNewLocal()
                .withPath("/srv/data")
                .endLocal()
                .withNewNodeAffinity()
                .withNewRequired()
                .addNewNodeSelectorTerm()
                .addToMatchExpressions(
                    new NodeSelectorRequirement("kubernetes.io/hostname", "In", List.of(node)))
                .endNodeSelectorTerm()
                .endRequired()
                .endNodeAffinity()
                .endSpec()
                .build())
        .create();
    client
        .resource(
            new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("data")
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteMany")
                .withStorageClassName("")
                .withVolumeName(name)
                .withNewResources()
                .withRequests(size)
                .endResources()
                .endSpec()
                .build())
        .create();
  }

  @Test
  void aSecondMigrationOfThePodIsRefused() {
    agents.stop(OperationType.RESTORE);
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    migrate("too", it -> {});

    refused(
        "too",
        "podRef.name: expected a pod that no other request migrates, got trainer, which GpuMigration "
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
