package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.common.ColdStartFallback;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeciderEndTest extends Deciding {

  @Test
  void theDeadlineCountsFromTheStartOfTheHolder() {
    made();
    Instant late = NOW.minus(Duration.ofMinutes(30));

    assertThat(faults(next(running(late, 0), null)))
        .containsExactly("deadline: wanted the proof within 30m, found none in that time");
    assertThat(next(running(late, 0), operation(OperationPhase.RUNNING)))
        .as("the agent's own deadline comes first, and it undoes by itself")
        .isInstanceOf(Next.Wait.class);
    assertThat(next(running(late.minusSeconds(30), 0), operation(OperationPhase.RUNNING)))
        .isInstanceOf(Next.Fail.class);
  }

  @Test
  void aHolderThatWasStartedAgainBeforeTheProofIsAFailedRestore() {
    made();
    Next next = next(running(NOW, 1), null);

    assertThat(((Next.Fail) next).faults().get(0).reason()).isEqualTo("RestoreFailed");
    assertThat(new Verdict(((Next.Fail) next).faults()).triesAgain(1)).isFalse();
  }

  @Test
  void successWithoutProofIsNoSuccess() {
    made();
    OperationView operation = operation(OperationPhase.SUCCEEDED);
    assertThat(next(running(NOW, 0), operation)).isInstanceOf(Next.Fail.class);

    Examples.proven(operation.status());
    assertThat(next(running(NOW, 0), operation)).isInstanceOf(Next.Prove.class);
  }

  @Test
  void aProvenPodThatIsBeingDeletedIsNotCalledRestored() {
    made();
    OperationView operation = operation(OperationPhase.SUCCEEDED);
    Examples.proven(operation.status());
    Pod deleted = running(NOW, 0);
    deleted.getMetadata().setDeletionTimestamp("2026-11-21T10:00:00Z");

    assertThat(next(deleted, operation)).isInstanceOf(Next.Fail.class);
  }

  @Test
  void theOrderIsTakenBackBeforeTheTargetGoes() {
    made();
    restore.getSpec().setCancel(true);
    OperationView operation = operation(OperationPhase.RUNNING);
    assertThat(next(running(NOW, 0), operation)).isEqualTo(new Next.Cancel(operation));

    operation.operation().getSpec().setCancel(true);
    assertThat(sentence(next(running(NOW, 0), operation))).isEqualTo("node gpu-1 undoes it");
    Pod target = running(NOW, 0);
    assertThat(next(target, operation(OperationPhase.CANCELLED)))
        .isEqualTo(new Next.Remove(target));
    assertThat(next(null, operation(OperationPhase.CANCELLED))).isEqualTo(new Next.Cancelled());
  }

  @Test
  void aSilentAgentDoesNotHoldAnythingUp() {
    made();
    restore.getSpec().setCancel(true);
    gpuNode.getStatus().setAgent(null);
    OperationView operation = operation(OperationPhase.RUNNING);
    operation.operation().getSpec().setCancel(true);
    Pod target = running(NOW, 0);

    assertThat(next(target, operation)).isEqualTo(new Next.Remove(target));
    assertThat(next(null, operation, true)).isEqualTo(new Next.Abandon(operation));
  }

  @Test
  void aMisfitIsTriedElsewhereUpToThreeTimes() {
    made();
    restore.getStatus().setFaults(List.of(MISFIT));

    assertThat(next(null, null)).isInstanceOf(Next.Again.class);
    restore.getStatus().setAttempts(3);
    assertThat(next(null, null)).isInstanceOf(Next.Give.class);
  }

  @Test
  void aColdStartHappensOnlyWhereItIsAllowed() {
    made();
    Fault broken = new Fault("CriuFailed", null, null, null, "criu-restore", null, "criu failed");
    restore.getStatus().setFaults(List.of(broken));
    assertThat(next(null, null)).isEqualTo(new Next.Give(new Verdict(List.of(broken))));

    restore.getSpec().setColdStartFallback(ColdStartFallback.ALLOW);
    assertThat(next(null, null)).isEqualTo(new Next.ColdStart(new Verdict(List.of(broken))));
    restore.getSpec().setCancel(true);
    assertThat(next(null, null)).isEqualTo(new Next.Cancelled());
  }

  @Test
  void aTargetThatIsGoneIsMadeAnew() {
    made();

    assertThat(faults(next(null, null)))
        .containsExactly("pod trainer: wanted that it stays until the proof, found none");
  }

  @Test
  void whatIsOverStaysAsItIs() {
    restore.getStatus().setPhase(RestorePhase.SUCCEEDED);
    restore.getSpec().setCancel(true);

    assertThat(next(null, null)).isEqualTo(new Next.Rest());
  }
}
