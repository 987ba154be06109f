package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.ColdStartPolicy;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestoreUndoTest extends RestoreScenario {

  @Test
  void theDeadlineCountsFromTheStartOfTheHolder() {
    made();
    Instant late = NOW.minus(Duration.ofMinutes(30));

    assertThat(faults(running(late, 0), null))
        .containsExactly("deadline: expected a verified target within 30m, got none in time");
    assertThat(step(running(late, 0), operation(OperationPhase.RUNNING)))
        .as("the agent's own deadline comes first, and it undoes by itself")
        .isEqualTo("restore-into-target Waiting");
    assertThat(step(running(late.minusSeconds(30), 0), operation(OperationPhase.RUNNING)))
        .isEqualTo("restore-into-target Failed");
  }

  @Test
  void aHolderThatWasStartedAgainBeforeTheProofIsAFailedRestore() {
    made();
    List<Fault> faults = failed(running(NOW, 1), null);

    assertThat(faults.get(0).reason()).isEqualTo("RestoreFailed");
    assertThat(new FailedAttempt(faults).isRetried(1)).isFalse();
  }

  @Test
  void anAgentThatWorksOnAHolderThatEndedReportsWhy() {
    made();

    assertThat(step(running(NOW, 1), operation(OperationPhase.RUNNING)))
        .isEqualTo("restore-into-target Waiting");
    gpuNode.getStatus().setAgent(null);
    assertThat(step(running(NOW, 1), operation(OperationPhase.RUNNING)))
        .isEqualTo("restore-into-target Failed");
  }

  /** Its pod is deleted next, and its log with it. */
  @Test
  void aWorkloadThatEndedIsReportedWithItsExitCode() {
    made();
    OperationView ended = operation(OperationPhase.FAILED);
    ended
        .status()
        .setFaults(List.of(Fault.of("NotProven", null, "expected a running process, got none")));
    ended.status().setPhases(List.of(new PhaseTime<>(OperationPhase.FAILED, NOW)));
    assertThat(step(running(NOW, 0), ended)).isEqualTo("restore-into-target Waiting");

    Pod exited = exited(1);
    assertThat(faults(exited, ended))
        .containsExactly(
            "expected a running process, got none; container main exited with code 1: no space"
                + " left");
    ended.status().setPhases(List.of(new PhaseTime<>(OperationPhase.FAILED, NOW.minusSeconds(5))));
    assertThat(faults(running(NOW, 0), ended))
        .containsExactly("expected a running process, got none");
  }

  @Test
  void successWithoutProofIsNoSuccess() {
    made();
    OperationView operation = operation(OperationPhase.SUCCEEDED);
    assertThat(faults(running(NOW, 0), operation))
        .containsExactly(
            "operation rst-uid-restore-1 verification: expected all processes with their state, got"
                + " none");

    Examples.proven(operation.status());
    assertThat(step(running(NOW, 0), operation)).isEqualTo("open-readiness-gate Due");
  }

  /** Its container was started from its image while no operator looked. */
  @Test
  void aWorkloadThatFailedAfterTheProofIsNotCalledRestored() {
    made();
    OperationView operation = operation(OperationPhase.SUCCEEDED);
    Examples.proven(operation.status());

    assertThat(step(running(NOW, 1), operation)).isEqualTo("restore-into-target Failed");
    List<Fault> faults = failed(exited(1), operation);
    assertThat(faults)
        .extracting(Fault::message)
        .containsExactly(
            "pod trainer container main: expected a workload that runs until its pod is Ready, got"
                + " one that ended; container main exited with code 1: no space left");
    assertThat(new FailedAttempt(faults).isRetried(1)).isFalse();
  }

  @Test
  void aWorkloadThatCompletedAfterTheProofIsRestored() {
    made();
    OperationView operation = operation(OperationPhase.SUCCEEDED);
    Examples.proven(operation.status());

    assertThat(step(exited(0), operation)).isEqualTo("open-readiness-gate Due");
  }

  private static Pod exited(int code) {
    return new PodBuilder(running(NOW, 0))
        .editStatus()
        .editFirstContainerStatus()
        .withNewState()
        .withNewTerminated()
        .withExitCode(code)
        .withMessage("no space left")
        .endTerminated()
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }

  @Test
  void aProvenPodThatIsBeingDeletedIsNotCalledRestored() {
    made();
    OperationView operation = operation(OperationPhase.SUCCEEDED);
    Examples.proven(operation.status());
    Pod deleted = running(NOW, 0);
    deleted.getMetadata().setDeletionTimestamp("2026-11-21T10:00:00Z");

    assertThat(step(deleted, operation)).isEqualTo("open-readiness-gate Failed");
  }

  @Test
  void theOperationIsCancelledBeforeTheTargetGoes() {
    made();
    restore.getSpec().getOptions().setCancel(true);
    OperationView operation = operation(OperationPhase.RUNNING);
    advance(running(NOW, 0), operation);
    assertThat(fakes.actions).containsExactly("cancel rst-uid-restore-1");

    operation.operation().getSpec().setCancel(true);
    assertThat(waiting(running(NOW, 0), operation).message()).isEqualTo("node gpu-1 undoes it");
    advance(running(NOW, 0), operation(OperationPhase.CANCELLED));
    assertThat(fakes.actions).contains("remove trainer");
    advance(null, operation(OperationPhase.CANCELLED));
    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.CANCELLED);
  }

  @Test
  void anOperationThatNoAgentHasClaimedIsTakenBack() {
    made();
    restore.getSpec().getOptions().setCancel(true);
    OperationView operation = operation(OperationPhase.PENDING);
    operation.status().setClaimedBy(null);

    advance(running(NOW, 0), operation);

    assertThat(fakes.actions).containsExactly("withdraw rst-uid-restore-1");
  }

  @Test
  void aSilentAgentDoesNotHoldAnythingUp() {
    made();
    restore.getSpec().getOptions().setCancel(true);
    gpuNode.getStatus().setAgent(null);
    OperationView operation = operation(OperationPhase.RUNNING);
    operation.operation().getSpec().setCancel(true);

    advance(running(NOW, 0), operation);
    advance(null, operation);

    assertThat(fakes.actions).containsExactly("remove trainer", "abandon rst-uid-restore-1");
  }

  @Test
  void aMisfitIsTriedElsewhereUpToThreeTimes() {
    made();
    restore.getStatus().setFaults(List.of(MISFIT));
    advance(null, null);
    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.PENDING);
    assertThat(restore.getStatus().getExcludedNodes()).hasSize(1);

    made();
    restore.getStatus().setFaults(List.of(MISFIT));
    restore.getStatus().setAttempts(3);
    advance(null, null);
    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.FAILED);
  }

  @Test
  void withoutLeaveForAColdStartItFails() {
    broken();

    advance(null, null);

    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.FAILED);
    assertThat(fakes.actions).isEmpty();
  }

  @Test
  void aColdStartHappensWhereItIsAllowed() {
    broken();
    restore.getSpec().setColdStartPolicy(ColdStartPolicy.COLD_START);

    advance(null, null);

    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.COLD_STARTED);
    assertThat(fakes.actions).containsExactly("cold start");
  }

  @Test
  void aCancelledRestoreIsNeverColdStarted() {
    broken();
    restore.getSpec().setColdStartPolicy(ColdStartPolicy.COLD_START);
    restore.getSpec().getOptions().setCancel(true);

    advance(null, null);

    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.CANCELLED);
    assertThat(fakes.actions).isEmpty();
  }

  private void broken() {
    made();
    Fault broken = new Fault("CriuFailed", null, null, null, "criu-restore", null, "criu failed");
    restore.getStatus().setFaults(List.of(broken));
  }

  @Test
  void aDeletedTargetIsRecreated() {
    made();

    assertThat(faults(null, null))
        .containsExactly(
            "pod trainer: expected a pod that exists until the verification, got none");
  }

  @Test
  void aFinishedRestoreIsNotChanged() {
    restore.getStatus().setPhase(RestorePhase.SUCCEEDED);
    restore.getSpec().getOptions().setCancel(true);

    advance(null, null);

    assertThat(restore.getStatus().getPhase()).isEqualTo(RestorePhase.SUCCEEDED);
    assertThat(fakes.actions).isEmpty();
  }
}
