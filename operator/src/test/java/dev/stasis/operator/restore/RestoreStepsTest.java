package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.common.TcpConnections;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RestoreStepsTest extends RestoreScenario {

  @Test
  void aCheckpointThatIsNotThereOrNotReadyIsWaitedFor() {
    checkpoint = Optional.empty();
    assertThat(waiting(null, null))
        .isEqualTo(
            new Progress.Waiting(
                Reason.WAITING_FOR_CHECKPOINT,
                "GpuCheckpoint train: expected one in namespace ml, got none"));

    GpuCheckpoint early = Examples.checkpoint("ml", "train");
    early.getStatus().setConditions(null);
    checkpoint = Optional.of(early);
    assertThat(waiting(null, null).message())
        .isEqualTo("GpuCheckpoint train: expected Ready, got Ready");
  }

  /** The agent of an eviction reported the complete artifact only after the failure. */
  @Test
  void aFailedCheckpointWithAReadyArtifactIsRestored() {
    checkpoint.orElseThrow().getStatus().setPhase(CheckpointPhase.FAILED);
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void aCheckpointThatIsBeingDeletedIsStillThereForTheOneThatHoldsIt() {
    checkpoint.orElseThrow().getMetadata().setDeletionTimestamp("2026-11-21T10:00:00Z");
    assertThat(waiting(null, null).message())
        .isEqualTo("GpuCheckpoint train: expected Ready, got one that is being deleted");

    restore.getStatus().setPhase(RestorePhase.PENDING);
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void anArtifactOfAnotherNamespaceIsNeverRestored() {
    artifact().setLocation("web/train-uid");

    assertThat(faults(null, null))
        .containsExactly("artifact: expected one of namespace ml, got web/train-uid");
  }

  @Test
  void aWorkloadThatIsBoundToItsPodIsNeverRestored() {
    artifact()
        .setNotPortable(
            List.of(
                Fault.misfit("NotPortable", Fault.SOCKET_ADDRESS, "0.0.0.0", "10.1.2.3:29500")));
    assertThat(faults(null, null))
        .containsExactly(
            "GpuCheckpoint train cannot be restored in another pod: socket address: expected"
                + " 0.0.0.0, got 10.1.2.3:29500");

    restore.getSpec().getOptions().setTcpConnections(TcpConnections.RESTORE);
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void anArtifactThatIsKnownToBeDamagedIsNotRestored() {
    var status = checkpoint.orElseThrow().getStatus();
    List<Condition> conditions = new ArrayList<>(status.getConditions());
    conditions.add(
        new Condition(
            "Restorable",
            ConditionValue.FALSE,
            "ArtifactDamaged",
            "sha256 of pages-1.img: expected a, got b",
            Instant.EPOCH,
            1L));
    status.setConditions(conditions);

    assertThat(faults(null, null))
        .containsExactly(
            "GpuCheckpoint train: expected an intact artifact, got a damaged one: sha256 of"
                + " pages-1.img: expected a, got b");

    // It became Ready, or was damaged, while the restore waited.
    restore.getStatus().setPhase(RestorePhase.PENDING);
    assertThat(faults(null, null)).hasSize(1);
    // The agent compares what it restores; the target is not given up for a report.
    restore.getStatus().setPhase(RestorePhase.RESTORING);
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void aCheckpointOfANewerReleaseIsWaitedFor() {
    checkpoint.orElseThrow().getStatus().setPhase(CheckpointPhase.UNRECOGNIZED);
    String sentence =
        "GpuCheckpoint train: expected values that this operator knows, got those of a newer"
            + " release in status.phase";
    assertThat(waiting(null, null).message()).isEqualTo(sentence);

    restore.getStatus().setPhase(RestorePhase.PENDING);
    assertThat(waiting(null, null).message()).isEqualTo(sentence);
  }

  @Test
  void aPodWithoutACommandNeedsWhatItsImageSupplies() {
    Pod pod = Examples.pod("ml", "trainer");
    pod.getSpec().getContainers().get(0).setCommand(null);
    checkpoint.orElseThrow().getStatus().setPodTemplate(Examples.template(pod));
    assertThat(step(null, null)).isEqualTo("create-target Due");

    checkpoint.orElseThrow().getStatus().setArgv(null);

    assertThat(faults(null, null))
        .containsExactly("GpuCheckpoint train: status.argv: expected a command line, got none");
  }

  @Test
  void aPodWithACommandNeedsNothingElse() {
    checkpoint.orElseThrow().getStatus().setArgv(null);

    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void whileNoNodeFitsTheReasonsAreSaidNodeByNode() {
    nodes = List.of(node("gpu-1", true));
    assertThat(waiting(null, null).message())
        .isEqualTo("0 of 1 node fits: gpu-1: node: expected a schedulable one, got a cordoned one");

    nodes = List.of(node("gpu-1", false));
    gpuNode.getStatus().setGpus(List.of());
    assertThat(waiting(null, null).message())
        .isEqualTo("0 of 1 node fits: gpu-1: gpu.count: expected 1, got 0");
  }

  @Test
  void aNodeThatIsAskedForAndUnknownIsNamed() {
    restore.getSpec().setTarget(new Target("gpu-9", null, null, null));

    assertThat(waiting(null, null).message())
        .isEqualTo("target.nodeName: expected a node with GPUs and an agent, got none named gpu-9");
  }

  @Test
  void anArtifactOnTheDiskOfOneNodeIsRestoredThereOnly() {
    artifact().setNode("gpu-2");

    assertThat(waiting(null, null).message())
        .isEqualTo(
            "0 of 1 node fits: gpu-1: artifact: expected node gpu-2, whose disk holds it, got"
                + " gpu-1");
  }

  @Test
  void anImageThatNoRegistryKnowsConfinesTheTargetToTheNodesThatListIt() {
    artifact().setImage("sha256:" + "cd".repeat(32));
    GpuCheckpoint elsewhere = checkpoint.orElseThrow();
    elsewhere.getStatus().setPod(new ObservedPod("trainer", "u", "main", "gpu-7"));

    assertThat(waiting(null, null).message())
        .contains("image: expected one of [gpu-7], which have");
    nodes =
        List.of(
            new NodeBuilder(node("gpu-1", false))
                .withNewStatus()
                .addNewImage()
                .withNames("registry.example/train:1")
                .endImage()
                .endStatus()
                .build());
    assertThat(step(null, null)).isEqualTo("create-target Due");
  }

  @Test
  void anUnrecordedTargetIsAdopted() {
    Pod target = target("uid-1", "");

    assertThat(step(target, null)).isEqualTo("create-target Due");
    advance(target, null);
    assertThat(Objects.requireNonNull(restore.getStatus().getPod()).uid()).isEqualTo("uid-1");
    assertThat(fakes.actions).isEmpty();
  }

  @Test
  void theSchedulersMessageIsReported() {
    made();
    Pod pod = target("uid-1", "");
    pod.getSpec().setNodeName(null);
    Pod pending =
        new PodBuilder(pod)
            .withNewStatus()
            .addNewCondition()
            .withType("PodScheduled")
            .withStatus("False")
            .withMessage("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
            .endCondition()
            .endStatus()
            .build();

    assertThat(step(pending, null)).isEqualTo("await-target Waiting");
    assertThat(waiting(pending, null))
        .isEqualTo(
            new Progress.Waiting(
                Reason.UNSCHEDULED,
                "pod trainer is waiting for a node: 0/1 nodes are available: 1 Insufficient"
                    + " nvidia.com/gpu."));
  }

  @Test
  void anArtifactInARemoteStoreIsDownloadedAsSoonAsTheTargetHasANode() {
    made();
    artifact().setDurability(StoreDurability.REMOTE);
    fakes.cluster.namespace =
        new NamespaceBuilder()
            .withNewMetadata()
            .withName("ml")
            .withUid("ns-1")
            .endMetadata()
            .build();
    Pod unscheduled = target("uid-1", "");
    unscheduled.getSpec().setNodeName(null);
    assertThat(step(unscheduled, null)).isEqualTo("await-target Waiting");

    Pod coming = target("uid-1", "");
    assertThat(step(coming, null)).isEqualTo("download-artifact Due");
    advance(coming, null);
    assertThat(fakes.actions).containsExactly("create rst-uid-download-1");
    GpuNodeOperation download = Objects.requireNonNull(fakes.created);
    assertThat(download.getSpec().getNodeName()).isEqualTo("gpu-1");
    assertThat(Objects.requireNonNull(download.getSpec().getArtifact()).namespaceUid())
        .isEqualTo("ns-1");

    fakes.cluster.operations.put(download.getMetadata().getName(), download);
    download.setStatus(new GpuNodeOperationStatus());
    download.getStatus().setPhase(OperationPhase.RUNNING);
    download.getStatus().setClaimedBy(new Claim("agent", null, NOW));
    download.getStatus().setProgress("63%");
    assertThat(step(coming, null))
        .as("its containers start beside")
        .isEqualTo("await-target Waiting");
    Pod holding = running(NOW, 0);
    assertThat(step(holding, null)).isEqualTo("download-artifact Waiting");
    assertThat(waiting(holding, null).message())
        .isEqualTo("node gpu-1 downloads the artifact, 63%");

    download.getStatus().setPhase(OperationPhase.SUCCEEDED);
    assertThat(step(holding, null)).isEqualTo("restore-into-target Due");

    download.getStatus().setPhase(OperationPhase.FAILED);
    download
        .getStatus()
        .setFaults(
            List.of(new Fault("StoreDamaged", null, null, null, "download", null, "chunk 7")));
    assertThat(faults(holding, null)).containsExactly("chunk 7");
  }

  @Test
  void aDownloadThatIsNotNeededAnyMoreIsCancelled() {
    made();
    artifact().setDurability(StoreDurability.REMOTE);
    Pod coming = target("uid-1", "");
    advance(coming, null);
    GpuNodeOperation download = Objects.requireNonNull(fakes.created);
    fakes.cluster.operations.put(download.getMetadata().getName(), download);
    download.setStatus(new GpuNodeOperationStatus());
    download.getStatus().setPhase(OperationPhase.RUNNING);
    download.getStatus().setClaimedBy(new Claim("agent", null, NOW));
    fakes.actions.clear();

    restore.getSpec().getOptions().setCancel(true);
    advance(coming, null);

    assertThat(fakes.actions).containsExactly("cancel rst-uid-download-1");
  }

  @Test
  void anImageThatMayNotBePulledIsTriedOnAnotherNode() {
    made();
    List<Fault> faults = failed(target("uid-1", "ErrImageNeverPull"), null);

    assertThat(faults.get(0).message()).contains("got ErrImageNeverPull");
    assertThat(new FailedAttempt(faults).excludesNode()).isTrue();
    assertThat(waiting(target("uid-1", "ImagePullBackOff"), null).message())
        .isEqualTo("pod trainer container main: ImagePullBackOff");
  }

  @Test
  void aNodeWithoutRoomForTheArtifactIsNotTriedAgain() {
    FailedAttempt failed =
        new FailedAttempt(
            List.of(new Fault("StoreFull", null, null, null, "download", null, "no room")));

    assertThat(failed.excludesNode()).isTrue();
    assertThat(failed.isRetried(1)).isTrue();
  }

  @Test
  void theAgentIsAskedOnceTheHolderRuns() {
    made();

    assertThat(step(running(NOW, 0), null)).isEqualTo("restore-into-target Due");
    advance(running(NOW, 0), null);
    assertThat(fakes.actions).containsExactly("create rst-uid-restore-1");
    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.RESTORING);
  }
}
