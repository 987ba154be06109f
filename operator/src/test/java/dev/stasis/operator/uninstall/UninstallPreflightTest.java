package dev.stasis.operator.uninstall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UninstallPreflightTest {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  private static GpuCheckpoint checkpoint(String after, String status) {
    return YAML.unmarshal(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuCheckpoint
        metadata:
          {name: train-1, namespace: ml, creationTimestamp: '2026-11-21T09:00:00Z'}
        spec: {podRef: {name: trainer}, afterCheckpoint: %s}
        status: %s
        """
            .formatted(after, status),
        GpuCheckpoint.class);
  }

  private static GpuRestore restore(String phase) {
    return restore(phase, "2026-11-21T10:30:00Z");
  }

  private static GpuRestore restore(String phase, String since) {
    return YAML.unmarshal(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuRestore
        metadata: {name: back, namespace: ml}
        spec: {checkpointRef: {name: train-1}}
        status: {phase: %1$s, phases: [{phase: %1$s, time: '%2$s'}]}
        """
            .formatted(phase, since),
        GpuRestore.class);
  }

  private static GpuNodeOperation operation(String type, String phase) {
    return YAML.unmarshal(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuNodeOperation
        metadata: {name: ckpt-u-checkpoint-1, namespace: stasis-system}
        spec:
          type: %s
          nodeName: gpu-17
          requester: {kind: GpuCheckpoint, namespace: ml, name: train-1, uid: u}
        status: {phase: %s}
        """
            .formatted(type, phase),
        GpuNodeOperation.class);
  }

  private static UninstallPreflight leaving(
      List<GpuCheckpoint> checkpoints,
      List<GpuRestore> restores,
      List<GpuNodeOperation> operations,
      List<GpuNode> nodes) {
    return new UninstallPreflight(
        new InstalledResources(checkpoints, restores, List.of(), operations, nodes, Set.of()));
  }

  private static GpuNode nodeWithFrozenPod() {
    return YAML.unmarshal(
        """
        apiVersion: stasis.dev/v1beta1
        kind: GpuNode
        metadata: {name: gpu-17}
        status: {frozen: [{pod: {kind: Pod, namespace: ml, name: trainer, uid: u}, state: Frozen}]}
        """,
        GpuNode.class);
  }

  private static final String EVICTED =
      "{phase: Ready, conditions: [{type: SourceRunning, status: 'False', reason: Evicted, message:"
          + " m, lastTransitionTime: '2026-11-21T10:00:00Z'}]}";

  @Test
  void anEvictedWorkloadBlocksTheUninstallUntilItIsRestored() {
    GpuCheckpoint evicted = checkpoint("Evict", EVICTED);
    assertThat(leaving(List.of(evicted), List.of(), List.of(), List.of()).blockers())
        .extracting(Blocker::remedy)
        .containsExactly("kubectl stasis restore train-1 -n ml --wait");
    assertThat(
            leaving(List.of(evicted), List.of(restore("Pending")), List.of(), List.of()).blockers())
        .hasSize(1);
    assertThat(
            leaving(List.of(evicted), List.of(restore("Succeeded")), List.of(), List.of())
                .blockers())
        .isEmpty();
    GpuRestore ofAnEarlierOne = restore("Succeeded", "2026-11-20T10:30:00Z");
    assertThat(leaving(List.of(evicted), List.of(ofAnEarlierOne), List.of(), List.of()).blockers())
        .hasSize(1);
  }

  @Test
  void onlyOperationsThatFreezeAWorkloadBlockTheUninstall() {
    assertThat(
            leaving(List.of(), List.of(), List.of(operation("Checkpoint", "Held")), List.of())
                .blockers())
        .singleElement()
        .satisfies(it -> assertThat(it.remedy()).isEqualTo("kubectl stasis cancel train-1 -n ml"));
    assertThat(
            leaving(
                    List.of(),
                    List.of(),
                    List.of(operation("Checkpoint", "Failed"), operation("Resume", "Running")),
                    List.of())
                .blockers())
        .isEmpty();
  }

  /** Its checkpoint is Ready, and no longer cancelled. */
  @Test
  void anUploadBlocksTheUninstallUntilItIsStoredOrItsCheckpointDeleted() {
    assertThat(
            leaving(
                    List.of(checkpoint("Resume", "{phase: Ready}")),
                    List.of(),
                    List.of(operation("Upload", "Running")),
                    List.of())
                .blockers())
        .extracting(Blocker::remedy)
        .containsExactly(
            "wait until its condition Stored is True, or: kubectl delete gpucheckpoint train-1 -n ml"
                + " (this also deletes its artifact, unless options.deletionPolicy is Retain)");
  }

  @Test
  void aSuspendedWorkloadIsResumedAndDoesNotBlock() {
    UninstallPreflight suspended =
        leaving(
            List.of(checkpoint("Suspend", "{phase: Suspended}")), List.of(), List.of(), List.of());
    assertThat(suspended.blockers()).isEmpty();
    assertThat(suspended.resumes())
        .containsExactly(new Step("GpuCheckpoint", "ml", "train-1", "desiredState", "Running"));
    assertThat(suspended.pending(false)).containsExactly("GpuCheckpoint ml/train-1 is Suspended");
  }

  @Test
  void aForcedUninstallCancelsRequestsInProgress() {
    assertThat(
            leaving(
                    List.of(checkpoint("Resume", "{phase: Saving}")),
                    List.of(restore("Starting"), restore("Failed")),
                    List.of(),
                    List.of())
                .cancels())
        .containsExactly(
            new Step("GpuCheckpoint", "ml", "train-1", "options.cancel", true),
            new Step("GpuRestore", "ml", "back", "options.cancel", true));
  }

  @Test
  void theUninstallWaitsWhileAWorkloadIsFrozen() {
    UninstallPreflight frozen =
        leaving(List.of(), List.of(), List.of(), List.of(nodeWithFrozenPod()));
    assertThat(frozen.blockers()).isEmpty();
    assertThat(frozen.pending(false)).containsExactly("pod ml/trainer on node gpu-17 is Frozen");
    assertThat(frozen.pending(true)).isEqualTo(frozen.pending(false));
  }

  @Test
  void onlyAForcedUninstallGivesUpFrozenWorkloadsOfARemovedNode() {
    UninstallPreflight removed =
        new UninstallPreflight(
            new InstalledResources(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(nodeWithFrozenPod()),
                Set.of("gpu-17")));
    assertThat(removed.blockers())
        .containsExactly(
            new Blocker(
                "GpuNode gpu-17 reports that pod ml/trainer on node gpu-17 is Frozen, but the node"
                    + " was removed",
                "kubectl delete gpunode gpu-17",
                "if the machine still runs, its workloads stay frozen until thawed on it"));
    assertThat(removed.pending(false)).hasSize(1);
    assertThat(removed.pending(true)).isEmpty();
  }

  @Test
  void onlyAForcedUninstallGivesUpAnUpload() {
    UninstallPreflight uploading =
        leaving(
            List.of(checkpoint("Resume", "{phase: Ready}")),
            List.of(),
            List.of(operation("Upload", "Running")),
            List.of());
    assertThat(uploading.blockers())
        .extracting(Blocker::givenUp)
        .containsExactly(
            "the upload stops; until Stasis is installed again and continues it, the artifact is"
                + " only on the disk of node gpu-17");
    assertThat(uploading.pending(false)).hasSize(1);
    assertThat(uploading.pending(true)).isEmpty();
    assertThat(
            leaving(List.of(), List.of(), List.of(operation("Checkpoint", "Running")), List.of())
                .pending(true))
        .hasSize(1);
  }

  /** Its operation may have ended, but only Ready shows that the artifact is the only copy. */
  @Test
  void theUninstallWaitsUntilAnEvictionIsReported() {
    assertThat(
            leaving(
                    List.of(checkpoint("Evict", "{phase: Saving}")),
                    List.of(),
                    List.of(),
                    List.of())
                .pending(false))
        .containsExactly("GpuCheckpoint ml/train-1 is Saving");
    assertThat(
            leaving(List.of(checkpoint("Evict", EVICTED)), List.of(), List.of(), List.of())
                .pending(false))
        .isEmpty();
  }
}
