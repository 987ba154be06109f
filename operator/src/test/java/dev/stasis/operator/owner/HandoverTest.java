package dev.stasis.operator.owner;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandoverTest {

  private static final Instant CREATED = Instant.parse("2026-11-21T09:00:00Z");

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final List<GpuRestore> restores = new ArrayList<>();
  private final List<Pod> pods = new ArrayList<>();
  private final GpuCheckpoint checkpoint = checkpoint(pod("ReplicaSet", null));

  @ParameterizedTest
  @EnumSource(names = {"PENDING", "FREEZING", "SAVING"})
  void itIsOpenFromTheFreezeOn(CheckpointPhase phase) {
    status().setPhase(phase);
    assertThat(open()).isPresent();
    assertThat(open().orElseThrow().isReady()).isFalse();
  }

  @Test
  void itIsOpenUntilTheWorkloadRunsAgain() {
    ready("Evicted");
    assertThat(open()).isPresent();
    restore(RestorePhase.FAILED);
    assertThat(open()).isPresent();
    restore(RestorePhase.RESTORING);
    assertThat(open()).isPresent();
    end(restores.get(1), RestorePhase.SUCCEEDED, CREATED.plusSeconds(60));
    assertThat(open()).isEmpty();
  }

  /** Otherwise the controller's next pod would have a cold start beside the saved workload. */
  @Test
  void aRestoreOfAnEarlierCheckpointWithItsNameKeepsItOpen() {
    ready("Evicted");
    restore(RestorePhase.RESTORING);
    end(restores.get(0), RestorePhase.SUCCEEDED, CREATED.minusSeconds(60));
    assertThat(open()).isPresent();
  }

  @Test
  void aRestoreThatWasNotReconciledYetKeepsItOpen() {
    ready("Evicted");
    GpuRestore created = new GpuRestore();
    created.setStatus(new GpuRestoreStatus());
    restores.add(created);

    assertThat(open()).isPresent();
  }

  /** Its controller has replaced the pod meanwhile: only a restore makes the next one a target. */
  @Test
  void aFailedCheckpointWithAReadyArtifactIsHandedOverOnlyToARestore() {
    status().setPhase(CheckpointPhase.FAILED);
    condition("Ready", ConditionValue.TRUE, "ArtifactVerified");
    assertThat(open()).isEmpty();
    restore(RestorePhase.PENDING);
    assertThat(open().orElseThrow().isReady()).isTrue();

    condition("Ready", ConditionValue.FALSE, "NodeSilent");
    assertThat(open()).isEmpty();
  }

  @Test
  void aColdStartEndsIt() {
    ready("Evicted");
    restore(RestorePhase.RESTORING);
    end(restores.get(0), RestorePhase.COLD_STARTED, CREATED.plusSeconds(60));
    assertThat(open()).isEmpty();
  }

  @Test
  void aPodThatKeepsRunningHasNoHandover() {
    status().setPhase(CheckpointPhase.CANCELLED);
    assertThat(open()).isEmpty();
    ready("Resumed");
    assertThat(open()).isEmpty();
    // Unless somebody wants it brought back.
    restore(RestorePhase.PENDING);
    assertThat(open()).isPresent();
  }

  /** Otherwise the controller's next pod would have a cold start beside the saved workload. */
  @Test
  void valuesOfANewerReleaseKeepItOpen() {
    status().setPhase(CheckpointPhase.UNRECOGNIZED);
    assertThat(open()).isPresent();
    status().setPhase(CheckpointPhase.SAVING);
    checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.UNRECOGNIZED);
    assertThat(open()).isPresent();
    ready("Resumed");
    restore(RestorePhase.UNRECOGNIZED);
    assertThat(open()).isPresent();
  }

  @Test
  void aMigrationWithADecisionOfANewerReleaseIsStillHandedOver() {
    GpuMigration migration = new GpuMigration();
    migration.setSpec(new GpuMigrationSpec());
    migration.setStatus(new GpuMigrationStatus());
    migration.getStatus().setPhase(MigrationPhase.SWITCHING_OVER);
    for (Decision decision : List.of(Decision.SWITCH_OVER, Decision.UNRECOGNIZED)) {
      migration.getStatus().setCommitment(new Commitment(decision, Instant.EPOCH, "operator"));
      assertThat(Move.isOver(migration)).isFalse();
    }
    migration.getStatus().setCommitment(new Commitment(Decision.ROLL_BACK, Instant.EPOCH, ""));
    assertThat(Move.isOver(migration)).isTrue();
  }

  /** Only checkpoints with a possible hand-over are reconciled for it. */
  @Test
  void anOpenHandoverIsAlwaysPossible() {
    checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.RESUME);
    status().setPhase(CheckpointPhase.SAVING);
    assertThat(isPossible()).isFalse();
    ready("Resumed");
    assertThat(isPossible()).isFalse();

    ready("Evicted");
    assertThat(open()).isPresent();
    assertThat(isPossible()).isTrue();
    ready("Resumed");
    restore(RestorePhase.PENDING);
    assertThat(open()).isPresent();
    assertThat(isPossible()).isTrue();
    restores.clear();
    for (AfterCheckpoint evicts : List.of(AfterCheckpoint.EVICT, AfterCheckpoint.UNRECOGNIZED)) {
      checkpoint.getSpec().setAfterCheckpoint(evicts);
      status().setPhase(CheckpointPhase.PENDING);
      assertThat(open()).isPresent();
      assertThat(isPossible()).isTrue();
    }
  }

  /** Almost no checkpoint has one. */
  @Test
  void aCheckpointWithoutAHandoverIsReconciledForItOnlyWhenItIsDeleted() {
    checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.RESUME);
    assertThat(concerns(null, checkpoint)).isFalse();
    assertThat(concerns(checkpoint, checkpoint)).isFalse();
    assertThat(concerns(checkpoint, null)).isTrue();

    restore(RestorePhase.PENDING);
    assertThat(concerns(null, checkpoint)).isTrue();
    restores.clear();
    checkpoint.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    assertThat(concerns(null, checkpoint)).isTrue();
    assertThat(concerns(checkpoint, checkpoint)).isTrue();
  }

  /** The Job may have released the held pod, and would create another one beside it. */
  @Test
  void aDeletedCheckpointKeepsItOpenWhileItsPodStays() {
    status().setPhase(CheckpointPhase.SAVING);
    status().setPod(new ObservedPod("trainer-x7k2p", "pod-1", "main", "gpu-17"));
    checkpoint.getMetadata().setDeletionTimestamp("2026-11-21T10:00:00Z");
    assertThat(open()).as("without a pod").isEmpty();
    pods.add(there("another-pod"));
    assertThat(open()).as("another pod with its name").isEmpty();
    pods.set(0, there("pod-1"));
    assertThat(open()).isPresent();

    pods.get(0).getMetadata().setDeletionTimestamp("2026-11-21T10:00:01Z");
    assertThat(open()).as("its pod is being deleted").isEmpty();
    pods.set(0, there("pod-1"));
    status().setPhase(CheckpointPhase.FAILED);
    assertThat(open()).isEmpty();
    ready("Evicted");
    assertThat(open()).isEmpty();
  }

  private static Pod there(String uid) {
    return new PodBuilder(pod("Job", null)).editMetadata().withUid(uid).endMetadata().build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"DaemonSet", "ReplicationController", "Node"})
  void otherControllersHaveNoHandover(String kind) {
    status().setPodTemplate(template(pod(kind, null)));
    assertThat(open()).isEmpty();
  }

  @Test
  void anIndexIsHandedOverToTheSameIndex() {
    status().setPodTemplate(template(pod("Job", "1")));
    Handover handover = open().orElseThrow();
    assertThat(handover.isFor(pod("Job", "1"))).isTrue();
    assertThat(handover.isFor(pod("Job", "0"))).isFalse();
    assertThat(handover.isFor(pod("Job", null))).isFalse();
  }

  private boolean concerns(@Nullable GpuCheckpoint before, @Nullable GpuCheckpoint after) {
    return HandoverReconciler.concerns(
        new Changed<>(Optional.ofNullable(before), Optional.ofNullable(after)), restores);
  }

  private boolean isPossible() {
    return Handover.isPossible(checkpoint, restores);
  }

  private Optional<Handover> open() {
    return Handover.open(
        checkpoint,
        restores,
        (namespace, name) ->
            pods.stream().filter(pod -> pod.getMetadata().getName().equals(name)).findFirst(),
        serialization);
  }

  private GpuCheckpointStatus status() {
    return Objects.requireNonNull(checkpoint.getStatus());
  }

  private void ready(String sourceIs) {
    status().setPhase(CheckpointPhase.READY);
    condition("SourceRunning", ConditionValue.FALSE, sourceIs);
  }

  private void condition(String type, ConditionValue value, String reason) {
    status().setConditions(List.of(new Condition(type, value, reason, "", Instant.EPOCH, null)));
  }

  private void restore(RestorePhase phase) {
    GpuRestore restore = new GpuRestore();
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(phase);
    restores.add(restore);
  }

  private static void end(GpuRestore restore, RestorePhase phase, Instant time) {
    restore.getStatus().setPhase(phase);
    restore.getStatus().setPhases(List.of(new PhaseTime<>(phase, time)));
  }

  private GpuCheckpoint checkpoint(Pod pod) {
    GpuCheckpoint made = new GpuCheckpoint();
    made.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("ml")
            .withName("save")
            .withCreationTimestamp(CREATED.toString())
            .build());
    made.setSpec(new GpuCheckpointSpec());
    made.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPodTemplate(template(pod));
    made.setStatus(status);
    return made;
  }

  @SuppressWarnings("unchecked") // an object of JSON is one
  private Map<String, Object> template(Pod pod) {
    return serialization.convertValue(pod, Map.class);
  }

  private static Pod pod(String kind, @Nullable String index) {
    PodBuilder pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace("ml")
            .withName("trainer-x7k2p")
            .addNewOwnerReference()
            .withApiVersion("apps/v1")
            .withKind(kind)
            .withName("trainer")
            .withUid("77aa")
            .withController(true)
            .endOwnerReference()
            .endMetadata();
    return index == null
        ? pod.build()
        : pod.editMetadata()
            .addToAnnotations("batch.kubernetes.io/job-completion-index", index)
            .endMetadata()
            .build();
  }
}
