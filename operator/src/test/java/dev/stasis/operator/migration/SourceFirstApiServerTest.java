package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pod that is saved and removed before its target comes: it is never in neither place. */
@SuppressWarnings("NullAway") // what is not there fails the test
class SourceFirstApiServerTest extends OnApiServer {

  @BeforeEach
  void share() {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(shared);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/shared")));
    client.resource(store).create();
  }

  @AfterEach
  void forget() {
    agents.freezesGoOn();
    agents.goOn(OperationType.RESTORE);
    client.resources(GpuMigration.class).inNamespace(namespace).delete();
    await()
        .atMost(LONG)
        .until(
            () ->
                client
                    .resources(GpuMigration.class)
                    .inNamespace(namespace)
                    .list()
                    .getItems()
                    .isEmpty());
    client.resources(GpuRestore.class).inNamespace(namespace).delete();
    client.resources(GpuCheckpoint.class).inNamespace(namespace).delete();
    await().atMost(LONG).until(() -> checkpoints().isEmpty() && restores().isEmpty());
  }

  @Test
  void aPodIsSavedRemovedAndBroughtBackElsewhereUnderItsName() {
    String from = pod("trainer").getSpec().getNodeName();
    String uid = pod("trainer").getMetadata().getUid();
    sourceFirst();

    GpuMigration done = until("move", it -> isFinal(it));
    assertThat(done.getStatus().getMessage()).contains("pod trainer runs on node");
    assertThat(phase(done)).isEqualTo(MigrationPhase.SUCCEEDED);
    assertThat(done.getStatus().getPhases())
        .extracting(it -> it.phase().value())
        .containsExactly(
            "Pending",
            "Freezing",
            "Transferring",
            "TargetStarting",
            "Restoring",
            "Verifying",
            "SwitchingOver",
            "Succeeded");
    assertThat(done.getStatus().getCommitment().decision()).isEqualTo(Decision.SWITCH_OVER);
    assertThat(condition(done, "SourceRunning").status()).isEqualTo(ConditionValue.FALSE);
    assertThat(condition(done, "SourceRunning").message()).contains("it can no longer be thawed");
    assertThat(done.getStatus().getArtifact().getStore()).isEqualTo(shared);
    assertThat(done.getStatus().getBytes()).isEqualTo(1L << 30);
    assertThat(done.getStatus().getDowntimeMilliseconds()).isPositive();
    assertThat(done.getStatus().getTarget().name()).isEqualTo("trainer");
    assertThat(done.getStatus().getTarget().node()).isNotEqualTo(from);
    assertThat(pod("trainer").getMetadata().getUid()).isNotEqualTo(uid);
    onlyOneRuns();
    await().atMost(LONG).until(() -> checkpoints().isEmpty());
    assertThat(restores()).hasSize(1);

    client.resource(done).delete();
    await().atMost(LONG).until(() -> restores().isEmpty());
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void cancelledBeforeTheSourceIsRemovedItGoesOn() {
    agents.stopFreezes();
    sourceFirst();
    until("move", it -> phase(it) == MigrationPhase.FREEZING);
    cancel("move");

    GpuMigration over = until("move", it -> isFinal(it));
    assertThat(phase(over)).isEqualTo(MigrationPhase.ROLLED_BACK);
    assertThat(over.getStatus().getRolledBack().reason()).isEqualTo("Cancelled");
    assertThat(condition(over, "SourceRunning").status()).isEqualTo(ConditionValue.TRUE);
    onlyOneRuns();
    await().atMost(LONG).until(() -> checkpoints().isEmpty());
    assertThat(restores()).isEmpty();
  }

  @Test
  void cancelledOnceTheSourceIsRemovedItGoesOnToItsEnd() {
    agents.stop(OperationType.RESTORE);
    sourceFirst();
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    cancel("move");
    agents.goOn(OperationType.RESTORE);

    GpuMigration done = until("move", it -> isFinal(it));
    assertThat(phase(done)).isEqualTo(MigrationPhase.SUCCEEDED);
    onlyOneRuns();
  }

  @Test
  void deletedWhileTheSourceIsFrozenItGoesOnAndNothingIsLeft() {
    agents.stopFreezes();
    sourceFirst();
    until("move", it -> phase(it) == MigrationPhase.FREEZING);
    delete();

    await().atMost(LONG).until(() -> gone() && checkpoints().isEmpty());
    onlyOneRuns();
    assertThat(restores()).isEmpty();
  }

  @Test
  void deletedOnceTheSourceIsRemovedItIsBroughtBackFirst() {
    agents.stop(OperationType.RESTORE);
    sourceFirst();
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    delete();
    agents.goOn(OperationType.RESTORE);

    await().atMost(LONG).until(() -> gone() && checkpoints().isEmpty());
    onlyOneRuns();
    assertThat(pod("trainer").getStatus().getPhase()).isEqualTo("Running");
  }

  @ParameterizedTest
  @EnumSource(
      value = OperationType.class,
      names = {"CHECKPOINT", "END", "RESTORE", "DELETE_ARTIFACT"})
  void aRestartedOperatorCreatesNothingTwice(OperationType step) {
    if (step == OperationType.CHECKPOINT) {
      agents.stopFreezes();
    } else {
      agents.stop(step);
    }
    sourceFirst();
    await()
        .atMost(LONG)
        .until(
            () ->
                operations().stream()
                    .anyMatch(
                        it ->
                            it.getSpec().getType() == step
                                && (step != OperationType.CHECKPOINT
                                    || !it.getSpec().getFreeze().getDryRun())));
    operator.close();
    startOperator();
    agents.freezesGoOn();
    agents.goOn(step);

    GpuMigration done = until("move", it -> isFinal(it));
    assertThat(phase(done)).isEqualTo(MigrationPhase.SUCCEEDED);
    assertThat(done.getStatus().getRestore()).endsWith("-1");
    assertThat(restores()).hasSize(1);
    onlyOneRuns();
    await().atMost(LONG).until(() -> checkpoints().isEmpty());
  }

  @Test
  void aTargetThatFailsIsBroughtBackOnTheNodeFromWhichItCame() {
    String from = pod("trainer").getSpec().getNodeName();
    agents.failOnce(OperationType.RESTORE);
    sourceFirst();

    GpuMigration over = until("move", it -> isFinal(it));
    assertThat(phase(over)).isEqualTo(MigrationPhase.ROLLED_BACK);
    assertThat(over.getStatus().getRestore()).endsWith("-2");
    assertThat(over.getStatus().getTarget().node()).isEqualTo(from);
    assertThat(over.getStatus().getRolledBack().message())
        .contains("restored on its original node", "criu failed");
    onlyOneRuns();
    await().atMost(LONG).until(() -> checkpoints().isEmpty());
  }

  @Test
  void theArtifactOfAFailedRestoreSurvivesEveryDeletion() {
    agents.fail(OperationType.RESTORE);
    sourceFirst();

    GpuMigration over = until("move", it -> isFinal(it));
    assertThat(phase(over)).isEqualTo(MigrationPhase.FAILED);
    assertThat(over.getStatus().getMessage())
        .contains("criu failed", "its artifact stays", "kubectl stasis restore");
    assertThat(condition(over, "Failed").status()).isEqualTo(ConditionValue.TRUE);
    delete();
    await().atMost(LONG).until(this::gone);
    assertThat(checkpoints())
        .singleElement()
        .matches(it -> it.getStatus().getPhase() == CheckpointPhase.READY)
        .matches(it -> it.getMetadata().getDeletionTimestamp() == null);
    assertThat(operations())
        .noneMatch(it -> it.getSpec().getType() == OperationType.DELETE_ARTIFACT);

    agents.heal(OperationType.RESTORE);
    GpuRestore byHand = new GpuRestore();
    byHand.getMetadata().setNamespace(namespace);
    byHand.getMetadata().setName("by-hand");
    byHand.setSpec(new GpuRestoreSpec());
    byHand
        .getSpec()
        .setCheckpointRef(NameReference.of(checkpoints().get(0).getMetadata().getName()));
    client.resource(byHand).create();
    await()
        .atMost(LONG)
        .until(
            () ->
                restores().stream()
                    .anyMatch(
                        it ->
                            it.getStatus() != null
                                && it.getStatus().getPhase() == RestorePhase.SUCCEEDED));
    assertThat(agents.running).hasSize(1);
    assertThat(agents.doubled).isFalse();
  }

  private void sourceFirst() {
    migrate("move", it -> it.getSpec().setStrategy(MigrationStrategy.RECREATE));
  }

  private void delete() {
    client.resources(GpuMigration.class).inNamespace(namespace).withName("move").delete();
  }

  private boolean gone() {
    return client.resources(GpuMigration.class).inNamespace(namespace).withName("move").get()
        == null;
  }

  private void onlyOneRuns() {
    assertThat(agents.running).containsExactly("trainer");
    assertThat(agents.doubled).isFalse();
  }

  private List<GpuCheckpoint> checkpoints() {
    return client.resources(GpuCheckpoint.class).inNamespace(namespace).list().getItems();
  }

  private List<GpuRestore> restores() {
    return client.resources(GpuRestore.class).inNamespace(namespace).list().getItems();
  }
}
