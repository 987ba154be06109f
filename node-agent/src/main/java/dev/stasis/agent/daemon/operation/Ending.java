package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The end of an operation, all of which is written at once.
 *
 * @param phase the final phase, or Held
 * @param outcome what it left behind; null while it is held
 * @param reason in one word
 * @param message in one sentence
 * @param faults every reason for which it was refused or failed
 * @param workload in which state the workload is; null where there is none
 * @param sourceRunning whether what was frozen runs; null where nothing was
 * @param processes how many processes run; null where nobody looked
 * @param more what else is said
 */
record Ending(
    OperationPhase phase,
    @Nullable Outcome outcome,
    String reason,
    String message,
    List<Fault> faults,
    @Nullable WorkloadState workload,
    @Nullable Truth sourceRunning,
    @Nullable Integer processes,
    Consumer<GpuNodeOperationStatus> more) {

  Ending {
    faults = List.copyOf(faults);
  }

  /** It is done. */
  static Ending done(String reason, String message) {
    return new Ending(
        OperationPhase.SUCCEEDED,
        Outcome.DONE,
        reason,
        message,
        List.of(),
        null,
        null,
        null,
        status -> {});
  }

  /** It was refused, and nothing was touched. */
  static Ending refused(List<Fault> faults) {
    return new Ending(
        OperationPhase.FAILED,
        Outcome.REFUSED,
        faults.get(0).reason(),
        Faults.sentence(faults),
        faults,
        null,
        null,
        null,
        status -> {});
  }

  /** It failed after something was touched. */
  static Ending failed(Outcome outcome, Fault fault) {
    return new Ending(
        OperationPhase.FAILED,
        outcome,
        fault.reason(),
        fault.message(),
        List.of(fault),
        null,
        null,
        null,
        status -> {});
  }

  Ending in(OperationPhase next) {
    return new Ending(
        next, outcome, reason, message, faults, workload, sourceRunning, processes, more);
  }

  Ending leaving(@Nullable WorkloadState state, @Nullable Truth running, @Nullable Integer count) {
    return new Ending(phase, outcome, reason, message, faults, state, running, count, more);
  }

  Ending with(Consumer<GpuNodeOperationStatus> also) {
    return new Ending(
        phase,
        outcome,
        reason,
        message,
        faults,
        workload,
        sourceRunning,
        processes,
        more.andThen(also));
  }

  /** Says it, all but the phase. */
  void to(GpuNodeOperationStatus status) {
    status.setOutcome(outcome);
    status.setReason(reason);
    status.setMessage(message);
    status.setFaults(faults.isEmpty() ? null : faults);
    if (workload != null) {
      status.setWorkload(workload);
    }
    if (sourceRunning != null) {
      status.setSourceRunning(sourceRunning);
    }
    if (processes != null) {
      status.setSourceProcesses(processes);
    }
    more.accept(status);
    status.setStep(null);
    status.setDoneBytes(null);
    status.setTotalBytes(null);
    status.setProgress(null);
    status.setBytesPerSecond(null);
    status.setRate(null);
  }
}
