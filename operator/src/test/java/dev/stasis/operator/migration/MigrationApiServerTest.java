package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@SuppressWarnings("NullAway") // what is not there fails the test
class MigrationApiServerTest extends OnApiServer {

  @Test
  void aPodMovesAndNothingIsLeftBehind() {
    migrate("move", it -> {});

    GpuMigration done = until("move", it -> phase(it) == MigrationPhase.SUCCEEDED);

    assertThat(done.getStatus().getSource().node())
        .isNotEqualTo(done.getStatus().getTarget().node());
    assertThat(done.getStatus().getCommitment().decision()).isEqualTo(Decision.SWITCH_OVER);
    assertThat(done.getStatus().getDowntimeMilliseconds()).isNotNull();
    assertThat(condition(done, "Succeeded").reason()).isEqualTo("Proven");
    assertThat(pods()).containsExactly(done.getStatus().getTarget().name());
    assertThat(agents.running).containsExactly(done.getStatus().getTarget().name());
    assertThat(agents.doubled).isFalse();
    await().atMost(LONG).until(() -> operations().isEmpty());
  }

  @ParameterizedTest
  @EnumSource(
      value = OperationType.class,
      names = {"CHECKPOINT", "RECEIVE", "SEND", "RESTORE"})
  void cancelledAtAnyStepTheSourceGoesOn(OperationType step) {
    if (step == OperationType.CHECKPOINT) {
      agents.stopFreezes();
    } else {
      agents.stop(step);
    }
    migrate("move", it -> {});
    await()
        .atMost(LONG)
        .until(
            () ->
                operations().stream()
                    .filter(it -> it.getSpec().getType() == step)
                    .anyMatch(it -> step != OperationType.CHECKPOINT || isFreezing(it)));

    cancel("move");

    GpuMigration over = until("move", it -> isFinal(it));
    assertThat(phase(over)).isIn(MigrationPhase.CANCELLED, MigrationPhase.ROLLED_BACK);
    theSourceGoesOn(over);
  }

  private static boolean isFreezing(GpuNodeOperation operation) {
    return Kinds.freezes(operation)
        && operation.getStatus() != null
        && operation.getStatus().getWorkload() == WorkloadState.FROZEN;
  }

  @ParameterizedTest
  @EnumSource(
      value = OperationType.class,
      names = {"RECEIVE", "SEND", "RESTORE"})
  void aStepThatFailsIsRolledBack(OperationType step) {
    agents.fail(step);
    migrate("move", it -> {});

    GpuMigration over = until("move", it -> isFinal(it));

    assertThat(phase(over)).isEqualTo(MigrationPhase.ROLLED_BACK);
    assertThat(over.getStatus().getRolledBack().message()).contains("criu failed");
    assertThat(condition(over, "RolledBack").status()).isEqualTo(ConditionValue.TRUE);
    assertThat(condition(over, "Failed").status()).isEqualTo(ConditionValue.TRUE);
    theSourceGoesOn(over);
  }

  @ParameterizedTest
  @EnumSource(
      value = OperationType.class,
      names = {"CHECKPOINT", "RECEIVE", "SEND", "RESTORE", "END", "DELETE_ARTIFACT"})
  void aRestartedOperatorContinuesTheMigration(OperationType step) {
    agents.stop(step);
    migrate("move", it -> {});
    await()
        .atMost(LONG)
        .until(() -> operations().stream().anyMatch(it -> it.getSpec().getType() == step));
    operator.close();
    startOperator();
    agents.goOn(step);

    GpuMigration done = until("move", it -> isFinal(it));
    assertThat(phase(done)).isEqualTo(MigrationPhase.SUCCEEDED);
    assertThat(agents.running).containsExactly(done.getStatus().getTarget().name());
    assertThat(agents.doubled).isFalse();
  }

  @Test
  void theDeadlineRollsBack() {
    agents.stop(OperationType.RESTORE);
    migrate(
        "move",
        it -> {
          it.getSpec().getOptions().setLockTimeout(TimeSpan.of("30s"));
          it.getSpec().getOptions().setDeadline(TimeSpan.of("30m"));
        });
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    later(Duration.ofMinutes(30));

    GpuMigration over = until("move", it -> phase(it) == MigrationPhase.ROLLED_BACK);
    assertThat(over.getStatus().getRolledBack().reason()).isEqualTo("DeadlineExceeded");
    theSourceGoesOn(over);
  }

  @Test
  void deletedAtWorkItIsRolledBackFirst() {
    agents.stop(OperationType.RESTORE);
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.RESTORING);

    client.resources(GpuMigration.class).inNamespace(namespace).withName("move").delete();
    await()
        .atMost(LONG)
        .until(
            () ->
                client.resources(GpuMigration.class).inNamespace(namespace).withName("move").get()
                    == null);
    assertThat(agents.running).containsExactly("trainer");
    assertThat(agents.doubled).isFalse();
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void aMigrationDeletedDuringTheInspectionLeavesNoOperation() {
    agents.stop(OperationType.CHECKPOINT);
    migrate("move", it -> {});
    await().atMost(LONG).until(() -> !operations().isEmpty());

    client.resources(GpuMigration.class).inNamespace(namespace).withName("move").delete();
    await()
        .atMost(LONG)
        .until(
            () ->
                client.resources(GpuMigration.class).inNamespace(namespace).withName("move").get()
                    == null);
    await().atMost(LONG).until(() -> operations().isEmpty());
    assertThat(agents.running).containsExactly("trainer");
    assertThat(pods()).containsExactly("trainer");
  }

  @Test
  void anArtifactThatArrivedSurvivesARebootOfTheSourceNode() {
    agents.stop(OperationType.RESTORE);
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    agents.startSourceAnew();
    agents.goOn(OperationType.RESTORE);

    GpuMigration done = until("move", it -> isFinal(it));
    assertThat(phase(done)).isEqualTo(MigrationPhase.SUCCEEDED);
    assertThat(agents.running).containsExactly(done.getStatus().getTarget().name());
    assertThat(agents.doubled).isFalse();
  }

  @Test
  void aSourceIsNeverThawedAfterARebootOfItsNode() {
    agents.stop(OperationType.SEND);
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.TRANSFERRING);
    agents.startSourceAnew();
    agents.fail(OperationType.SEND);
    agents.goOn(OperationType.SEND);

    GpuMigration over = until("move", it -> isFinal(it));
    assertThat(phase(over)).isEqualTo(MigrationPhase.FAILED);
    assertThat(agents.running).isEmpty();
    assertThat(condition(over, "Failed").status()).isEqualTo(ConditionValue.TRUE);
  }

  @Test
  void aSourceWhoseNodeComesBackAfterTheEndIsThawed() {
    agents.stop(OperationType.SEND);
    migrate("move", it -> {});
    GpuMigration held = until("move", it -> phase(it) == MigrationPhase.TRANSFERRING);
    String node = held.getStatus().getSource().node();
    client.nodes().withName(node).delete();
    GpuMigration failed = until("move", it -> phase(it) == MigrationPhase.FAILED);
    assertThat(condition(failed, "SourceRunning").status()).isEqualTo(ConditionValue.FALSE);
    assertThat(agents.running).isEmpty();

    kubelet.node(node, 1);

    until("move", it -> condition(it, "SourceRunning").status() == ConditionValue.TRUE);
    assertThat(agents.running).containsExactly("trainer");
    assertThat(agents.doubled).isFalse();
    await().atMost(LONG).until(() -> operations().isEmpty());
  }

  @Test
  void aFinishedMigrationGoesWhenItsTimeToLiveIsOverAndThePodStays() {
    migrate("move", it -> it.getSpec().getOptions().setTtlSecondsAfterFinished(1));

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
    assertThat(pods()).hasSize(1).doesNotContain("trainer");
    assertThat(agents.running).containsExactlyElementsOf(pods());
    assertThat(operations()).isEmpty();
  }

  @Test
  void theDecisionIsTakenOnce() {
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.SUCCEEDED);

    Assertions.assertThatThrownBy(
            () ->
                client
                    .resources(GpuMigration.class)
                    .inNamespace(namespace)
                    .withName("move")
                    .editStatus(
                        it -> {
                          it.getStatus()
                              .setCommitment(
                                  new Commitment(Decision.ROLL_BACK, Instant.now(), "me"));
                          return it;
                        }))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("is immutable once set");
  }

  private void theSourceGoesOn(GpuMigration over) {
    assertThat(agents.running).containsExactly("trainer");
    assertThat(agents.doubled).isFalse();
    await().atMost(LONG).until(() -> pods().equals(List.of("trainer")));
    assertThat(condition(over, "Succeeded").status()).isEqualTo(ConditionValue.FALSE);
    await().atMost(LONG).until(() -> operations().isEmpty());
  }
}
