package dev.stasis.operator.uninstall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
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
        new InstalledResources(checkpoints, restores, List.of(), operations, nodes));
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
    assertThat(suspended.pending()).containsExactly("GpuCheckpoint ml/train-1 is Suspended");
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
    GpuNode node =
        YAML.unmarshal(
            """
            apiVersion: stasis.dev/v1beta1
            kind: GpuNode
            metadata: {name: gpu-17}
            status: {frozen: [{pod: {kind: Pod, namespace: ml, name: trainer, uid: u}, state: Frozen}]}
            """,
            GpuNode.class);
    assertThat(leaving(List.of(), List.of(), List.of(), List.of(node)).pending())
        .containsExactly("pod ml/trainer on node gpu-17 is Frozen");
  }
}
