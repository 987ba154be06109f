package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.ProvenProcess;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.WorkloadInspector;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ProcessProof;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The result of an operation, published as a whole.
 *
 * @param phase the final phase, or Held
 * @param outcome the outcome; null while it is held
 * @param reason the reason in CamelCase
 * @param message one sentence
 * @param faults every reason of a refusal or failure
 * @param workload state of the workload; null without one
 * @param sourceRunning whether the frozen workload runs; null without a freeze
 * @param processes number of running processes; null if unknown
 * @param more further changes of the status
 */
record OperationResult(
    OperationPhase phase,
    @Nullable Outcome outcome,
    String reason,
    String message,
    List<Fault> faults,
    @Nullable WorkloadState workload,
    @Nullable ConditionValue sourceRunning,
    @Nullable Integer processes,
    Consumer<GpuNodeOperationStatus> more) {

  OperationResult {
    faults = List.copyOf(faults);
  }

  private static OperationResult of(
      OperationPhase phase,
      @Nullable Outcome outcome,
      String reason,
      String message,
      List<Fault> faults) {
    return new OperationResult(
        phase, outcome, reason, message, faults, null, null, null, status -> {});
  }

  /** Success. */
  static OperationResult done(String reason, String message) {
    return of(OperationPhase.SUCCEEDED, Outcome.DONE, reason, message, List.of());
  }

  /** It was refused, and nothing was changed. */
  static OperationResult refused(List<Fault> faults) {
    String message = Faults.sentence(faults);
    return of(OperationPhase.FAILED, Outcome.REFUSED, faults.get(0).reason(), message, faults);
  }

  /** It failed after something was changed. */
  static OperationResult failed(Outcome outcome, Fault fault) {
    return of(OperationPhase.FAILED, outcome, fault.reason(), fault.message(), List.of(fault));
  }

  /** A store failed, or what is in it could not be read; nothing was changed. */
  static OperationResult storeFailed(String step, IOException e) {
    return failed(
        Outcome.UNDONE, Faults.inStep("StoreFailed", step, String.valueOf(e.getMessage())));
  }

  /** A freeze failed and left its workload in that state. */
  static OperationResult failedFreeze(Fault fault, SourceState state, @Nullable Integer processes) {
    Outcome outcome =
        switch (state.kind()) {
          case RUNNING -> Outcome.UNDONE;
          case GONE -> Outcome.LOST;
          case FROZEN, UNKNOWN -> Outcome.NOT_UNDONE;
        };
    return failed(outcome, fault).leaving(state, processes);
  }

  /** The artifact is published, and the workload is frozen until a decision. */
  static OperationResult held(@Nullable ArtifactStatus artifact) {
    return of(
            OperationPhase.HELD,
            null,
            "Held",
            "the artifact is stored; the workload stays frozen until Thaw or End",
            List.of())
        .leaving(WorkloadState.FROZEN, ConditionValue.FALSE, null)
        .with(artifact);
  }

  /** The artifact is published, and the workload was resumed before that. */
  static OperationResult resumed(ArtifactStatus artifact, SourceState state, int processes) {
    return done("Resumed", artifact.getSize() + " saved; " + processes + " processes run")
        .leaving(state, processes)
        .with(artifact);
  }

  /**
   * A freeze that was interrupted, with its artifact if there is one. A rollback that has begun is
   * never a success, even if its artifact is kept.
   */
  static OperationResult recovered(
      Optional<ArtifactStatus> artifact,
      boolean undoing,
      WorkloadInspector.Seen seen,
      Fault fault) {
    SourceState.Kind kind = seen.state().kind();
    boolean over = kind == SourceState.Kind.RUNNING || kind == SourceState.Kind.GONE;
    return artifact.isPresent() && over && !undoing
        ? resumed(artifact.get(), seen.state(), seen.processes())
        : failedFreeze(fault, seen.state(), seen.processes()).with(artifact.orElse(null));
  }

  /** A verified restore, by this agent or by a predecessor. */
  static OperationResult proven(Instant now, List<ProvenProcess> processes, long wantedBytes) {
    long found = processes.stream().mapToLong(ProvenProcess::gpuBytes).sum();
    Proof proof =
        new Proof(
            now,
            processes.stream()
                .map(
                    one ->
                        new ProcessProof(
                            (long) one.ownPid(),
                            one.command(),
                            String.valueOf(one.state()),
                            Optional.ofNullable(one.driverState()).map(Enum::name).orElse(null)))
                .toList(),
            wantedBytes,
            found);
    return done(
            "Proven",
            "%d processes run, %s of device memory were restored"
                .formatted(processes.size(), new HumanBytes(found).text()))
        .leaving(WorkloadState.RUNNING, null, processes.size())
        .with(status -> status.setProof(proof));
  }

  OperationResult in(OperationPhase next) {
    return new OperationResult(
        next, outcome, reason, message, faults, workload, sourceRunning, processes, more);
  }

  OperationResult leaving(
      @Nullable WorkloadState state, @Nullable ConditionValue running, @Nullable Integer count) {
    return new OperationResult(
        phase, outcome, reason, message, faults, state, running, count, more);
  }

  /** Returns a copy with the observed state of the workload. */
  OperationResult leaving(SourceState state, @Nullable Integer count) {
    return leaving(workload(state), running(state), count);
  }

  /** Returns a copy with the observed state of the workload. */
  OperationResult leaving(WorkloadInspector.Seen seen) {
    return leaving(seen.state(), seen.processes());
  }

  static WorkloadState workload(SourceState state) {
    return switch (state.kind()) {
      case RUNNING -> WorkloadState.RUNNING;
      case FROZEN -> WorkloadState.FROZEN;
      case GONE -> WorkloadState.ENDED;
      case UNKNOWN -> WorkloadState.UNKNOWN;
    };
  }

  private static ConditionValue running(SourceState state) {
    return switch (state.kind()) {
      case RUNNING -> ConditionValue.TRUE;
      case FROZEN, GONE -> ConditionValue.FALSE;
      case UNKNOWN -> ConditionValue.UNKNOWN;
    };
  }

  OperationResult with(@Nullable ArtifactStatus artifact) {
    return artifact == null ? this : with(status -> status.setArtifact(artifact));
  }

  OperationResult with(Consumer<GpuNodeOperationStatus> also) {
    return new OperationResult(
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

  /** Writes everything except the phase into a status. */
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
