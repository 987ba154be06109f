package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.Layout;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.VolumeNodes;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An artifact in a volume that one node at a time mounts. */
class VolumeOfOneNodeTest extends RestoreScenario {

  private static final String ID = "1".repeat(32);
  private static final String GPU_2 =
      "store claim: expected node gpu-1, which has the volume of claim checkpoints (ReadWriteOnce)"
          + " mounted, got gpu-2; restore it there, or use a claim with access mode ReadWriteMany";

  private final GpuNode other = Examples.gpuNode("gpu-2", NOW);
  private final GpuCheckpointStore store = new GpuCheckpointStore();

  @BeforeEach
  void theFirstOfTwoNodesHasTheVolume() {
    artifact().setStore("claim");
    artifact().setNode(null);
    artifact().setDurability(StoreDurability.REMOTE);
    store.getMetadata().setName("claim");
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new ClaimVolume("checkpoints")));
    store.setStatus(new GpuCheckpointStoreStatus());
    modes("ReadWriteOnce");
    fakes.cluster.stores.add(store);
    fakes.cluster.gpuNodes.addAll(List.of(gpuNode, other));
    nodes = List.of(node("gpu-1", false), node("gpu-2", false));
    mounts(gpuNode, ID);
    mounts(other, null);
  }

  private void modes(String mode) {
    Objects.requireNonNull(store.getStatus())
        .setVolume(new VolumeStatus(ID, "pv", List.of(mode), null));
  }

  private static void mounts(GpuNode node, @Nullable String volumeId) {
    node.getStatus()
        .setStores(
            List.of(
                new NodeStore("claim", volumeId != null, null, null, null, null, null, null)
                    .withVolumeId(volumeId)));
  }

  private void ask(String node) {
    restore.getSpec().setTarget(new Target(node, null, null, null));
  }

  @Test
  void aRestoreOnAnotherNodeWaitsAndNamesTheNodeWithTheVolume() {
    ask("gpu-2");

    assertThat(step(null, null)).isEqualTo("await-node Waiting");
    assertThat(waiting(null, null).reason()).isEqualTo(Reason.NO_NODE_FITS);
    assertThat(waiting(null, null).message()).contains(GPU_2);
  }

  @Test
  void aRestoreOnTheNodeWithTheVolumeDoesNotWait() {
    assertThat(step(null, null)).isEqualTo("create-target Due");
    ask("gpu-1");
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void aRestoreFollowsTheVolumeToAnotherNode() {
    ask("gpu-2");
    mounts(gpuNode, null);
    mounts(other, ID);

    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void aVolumeThatNoNodeHasMountedIsReportedAsMissing() {
    mounts(gpuNode, "2".repeat(32));

    assertThat(waiting(null, null).message())
        .contains("expected a node that has the volume of claim checkpoints (ReadWriteOnce)")
        .contains("got none; see kubectl get pods -A -l stasis.dev/store=claim");
  }

  @Test
  void anArtifactThatEveryNodeCanReadIsRestoredAnywhere() {
    ask("gpu-2");
    modes("ReadWriteMany");
    assertThat(step(null, null)).isEqualTo("create-target Due");

    modes("ReadWriteOnce");
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/chunks", Layout.CHUNKS)));
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void anArtifactThatIsNotUploadedYetNeedsNoVolume() {
    artifact().setNode("gpu-2");
    nodes = List.of(node("gpu-2", false));

    assertThat(new VolumeNodes(fakes.cluster).without(artifact())).isEmpty();
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  private Pod unscheduled(String excluded) {
    return new PodBuilder(target("uid-1", ""))
        .editSpec()
        .withNodeName(null)
        .withNewAffinity()
        .withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .addNewNodeSelectorTerm()
        .withMatchFields(new NodeSelectorRequirement("metadata.name", "NotIn", List.of(excluded)))
        .endNodeSelectorTerm()
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .endAffinity()
        .endSpec()
        .build();
  }

  @Test
  void aTargetThatWaitsForTheFormerNodeOfTheVolumeIsReplaced() {
    made();
    assertThat(step(unscheduled("gpu-2"), null)).isEqualTo("await-target Waiting");

    mounts(gpuNode, null);
    mounts(other, ID);

    List<Fault> faults = failed(unscheduled("gpu-2"), null);
    assertThat(faults.get(0).message())
        .contains("expected node gpu-2, which has the volume of the artifact now");
    assertThat(new FailedAttempt(faults).isRetried(1)).isTrue();
    assertThat(step(unscheduled("gpu-1"), null)).isEqualTo("await-target Waiting");
  }

  @Test
  void aDownloadWhoseVolumeMovedAwayNamesTheNodeThatHasIt() {
    made();
    advance(target("uid-1", ""), null);
    var download = Objects.requireNonNull(fakes.created);
    fakes.cluster.operations.put(download.getMetadata().getName(), download);
    download.setStatus(new GpuNodeOperationStatus());
    download.getStatus().setPhase(OperationPhase.RUNNING);
    download.getStatus().setClaimedBy(new Claim("agent", null, NOW));
    mounts(gpuNode, null);
    mounts(other, ID);

    assertThat(waiting(running(NOW, 0), null).message())
        .startsWith("node gpu-1 downloads the artifact: store claim: expected node gpu-2");
  }
}
