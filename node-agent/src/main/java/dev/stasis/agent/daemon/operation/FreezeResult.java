package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.Reason;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactStage;
import java.time.Duration;
import java.util.Objects;

/** Converts the engine's outcome of a freeze to the operation's result. */
final class FreezeResult {

  private final AgentParts parts;
  private final ActiveOperation operation;
  private final PodLookup.Place place;
  private final FreezeRequests.Made made;

  FreezeResult(
      AgentParts parts,
      ActiveOperation operation,
      PodLookup.Place place,
      FreezeRequests.Made made) {
    this.parts = parts;
    this.operation = operation;
    this.place = place;
    this.made = made;
  }

  OperationResult of(CheckpointOutcome outcome, Duration waited, Duration hooks)
      throws InterruptedException {
    if (outcome instanceof CheckpointOutcome.Published published) {
      var seen = parts.engine().look().at(place.container().id());
      return figures(
          published.figures(),
          waited,
          hooks,
          OperationResult.resumed(artifact(published.artifact()), seen.state(), seen.processes()));
    }
    if (outcome instanceof CheckpointOutcome.Held held) {
      OperationResult result = OperationResult.held(artifact(held.artifact()));
      return figures(held.figures(), waited, hooks, result);
    }
    if (outcome instanceof CheckpointOutcome.Suspended suspended) {
      OperationResult result =
          OperationResult.done(
                  "Suspended",
                  new HumanBytes(suspended.freedBytes()).text() + " of device memory were freed")
              .leaving(WorkloadState.SUSPENDED, ConditionValue.FALSE, null)
              .with(suspended.artifact() == null ? null : artifact(suspended.artifact()));
      return figures(suspended.figures(), waited, hooks, result);
    }
    if (outcome instanceof CheckpointOutcome.Refused refused) {
      return OperationResult.refused(refused.unmet().stream().map(Faults::freezing).toList())
          .leaving(parts.engine().look().at(place.container().id()));
    }
    return failed((CheckpointOutcome.Failed) outcome, waited, hooks);
  }

  private OperationResult failed(CheckpointOutcome.Failed failed, Duration waited, Duration hooks) {
    String message =
        failed.source().kind() == SourceState.Kind.RUNNING
            ? failed.message()
            : failed.message() + "; " + failed.source().detail();
    Fault fault = Faults.inStep(reason(failed.reason(), operation), failed.step(), message);
    OperationResult result = OperationResult.failedFreeze(fault, failed.source(), null);
    boolean driverFailed = message.contains("CUDA_ERROR") || message.contains("FAILED");
    if (failed.reason() == Reason.DRIVER_HANG
        || (result.outcome() == Outcome.NOT_UNDONE && driverFailed)) {
      fence(message);
    }
    if (failed.reason() == Reason.CANCELLED
        && !operation.isRolledOut()
        && result.outcome() == Outcome.UNDONE) {
      result = result.in(OperationPhase.CANCELLED);
    }
    result = result.with(failed.artifact() == null ? null : artifact(failed.artifact()));
    return figures(failed.figures(), waited, hooks, result);
  }

  /** Fences the GPUs: their driver did not restore a workload. */
  private void fence(String why) {
    place.gpus().forEach(gpu -> parts.quarantine().fence(gpu.text(), why));
  }

  /** Converts the engine's reason to that of the API. */
  static String reason(Reason reason, ActiveOperation operation) {
    return switch (reason) {
      case CANCELLED -> operation.isRolledOut() ? Faults.AGENT_RESTARTED : reason.value();
      case FROZEN_TOO_LONG -> "ProbeTooShort";
      case TOLD_TO_END -> "PodNotRunning";
      case REFUSED -> Faults.PREFLIGHT_REFUSED;
      default -> reason.value();
    };
  }

  private OperationResult figures(
      CheckpointOutcome.Figures figures, Duration waited, Duration hooks, OperationResult result) {
    PathTaken path = PathTaken.of(figures.path());
    // A suspension on the driver's path has its memory nowhere but in the process.
    boolean known = made.request().store() != null || path.path() == DataPath.DIRECT;
    parts
        .metrics()
        .steps(operation.type(), known ? path.path().value() : "Memory", figures.timings());
    return result.with(
        status -> {
          boolean suspended = made.request().after() == After.SUSPEND;
          status.setTimings(
              new Timings(figures.timings().asMap()).freeze(figures, suspended, waited, hooks));
          if (known) {
            status.setDataPath(path.path());
            status.setDataPathReason(path.reason());
          }
        });
  }

  private ArtifactStatus artifact(ArtifactStage.SealedArtifact sealed) {
    return Objects.requireNonNull(made.place())
        .status(parts.nodeName(), sealed.manifest(), sealed.sha256());
  }
}
