package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.Reason;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactStage;
import java.time.Duration;
import java.util.List;

/** What the engine's end of a freeze means. */
final class FreezeEnding {

  private final AgentParts parts;
  private final Assignment assignment;
  private final PodLookup.Place place;
  private final FreezeRequests.Made made;

  FreezeEnding(
      AgentParts parts, Assignment assignment, PodLookup.Place place, FreezeRequests.Made made) {
    this.parts = parts;
    this.assignment = assignment;
    this.place = place;
    this.made = made;
  }

  static WorkloadState workload(SourceState state) {
    return switch (state.kind()) {
      case RUNNING -> WorkloadState.RUNNING;
      case FROZEN -> WorkloadState.FROZEN;
      case GONE -> WorkloadState.ENDED;
      case UNKNOWN -> WorkloadState.UNKNOWN;
    };
  }

  static Truth running(SourceState state) {
    return switch (state.kind()) {
      case RUNNING -> Truth.TRUE;
      case FROZEN, GONE -> Truth.FALSE;
      case UNKNOWN -> Truth.UNKNOWN;
    };
  }

  Ending of(CheckpointOutcome outcome, Duration waited, Duration hooks)
      throws InterruptedException {
    if (outcome instanceof CheckpointOutcome.Published published) {
      return figures(published.figures(), waited, hooks, runs(published))
          .with(status -> status.setArtifact(artifact(published.artifact())));
    }
    if (outcome instanceof CheckpointOutcome.Held held) {
      Ending ending =
          new Ending(
              OperationPhase.HELD,
              null,
              "Held",
              "the artifact is safe; the workload stands still until Thaw or End",
              List.of(),
              WorkloadState.FROZEN,
              Truth.FALSE,
              null,
              status -> status.setArtifact(artifact(held.artifact())));
      return figures(held.figures(), waited, hooks, ending);
    }
    if (outcome instanceof CheckpointOutcome.Suspended suspended) {
      Ending ending =
          Ending.done(
                  "Suspended",
                  HumanText.size(suspended.freedBytes()) + " of device memory are free")
              .leaving(WorkloadState.SUSPENDED, Truth.FALSE, null);
      if (suspended.artifact() != null) {
        ArtifactStatus artifact = artifact(suspended.artifact());
        ending = ending.with(status -> status.setArtifact(artifact));
      }
      return figures(suspended.figures(), waited, hooks, ending);
    }
    if (outcome instanceof CheckpointOutcome.Refused refused) {
      Ending ending = Ending.refused(refused.unmet().stream().map(Faults::freezing).toList());
      var seen = parts.engine().look().at(place.container().id());
      return ending.leaving(workload(seen.state()), running(seen.state()), seen.processes());
    }
    return failed((CheckpointOutcome.Failed) outcome, waited, hooks);
  }

  private Ending runs(CheckpointOutcome.Published published) throws InterruptedException {
    var seen = parts.engine().look().at(place.container().id());
    return Ending.done(
            "Resumed",
            "%s saved; %d processes run"
                .formatted(
                    HumanText.size(published.artifact().manifest().sizes().bytes()),
                    seen.processes()))
        .leaving(workload(seen.state()), running(seen.state()), seen.processes());
  }

  private Ending failed(CheckpointOutcome.Failed failed, Duration waited, Duration hooks) {
    Outcome outcome =
        switch (failed.source().kind()) {
          case RUNNING -> Outcome.UNDONE;
          case GONE -> Outcome.LOST;
          case FROZEN, UNKNOWN -> Outcome.NOT_UNDONE;
        };
    String message =
        failed.source().kind() == SourceState.Kind.RUNNING
            ? failed.message()
            : failed.message() + "; " + failed.source().detail();
    Fault fault = Faults.inStep(reason(failed.reason(), assignment), failed.step(), message);
    Ending ending =
        Ending.failed(outcome, fault)
            .leaving(workload(failed.source()), running(failed.source()), null);
    boolean driverFailed = message.contains("CUDA_ERROR") || message.contains("FAILED");
    if (failed.reason() == Reason.DRIVER_HANG || (outcome == Outcome.NOT_UNDONE && driverFailed)) {
      fence(message);
    }
    if (failed.reason() == Reason.CANCELLED
        && !assignment.isRolledOut()
        && outcome == Outcome.UNDONE) {
      ending = ending.in(OperationPhase.CANCELLED);
    }
    return figures(failed.figures(), waited, hooks, ending);
  }

  /** Nothing more is tried on a GPU whose driver did not bring a workload back. */
  private void fence(String why) {
    place.gpus().gpus().forEach(gpu -> parts.quarantine().fence(gpu.text(), why));
  }

  /** The engine's reason in the API's words. */
  static String reason(Reason reason, Assignment assignment) {
    return switch (reason) {
      case CANCELLED -> assignment.isRolledOut() ? Faults.AGENT_RESTARTED : reason.word();
      case FROZEN_TOO_LONG -> "LivenessProbeTooShort";
      case TOLD_TO_END -> "PodNotRunning";
      default -> reason.word();
    };
  }

  private Ending figures(
      CheckpointOutcome.Figures figures, Duration waited, Duration hooks, Ending ending) {
    String[] path = figures.path().split("[:;] ?", 2);
    DataPath way = path[0].equals("mover") ? DataPath.MOVER : DataPath.CRIU;
    boolean saves = made.request().store() != null;
    parts.metrics().steps(assignment.type(), saves ? way.word() : "Memory", figures.timings());
    return ending.with(
        status -> {
          status.setTimings(new Timings(figures.timings()).freeze(figures, waited, hooks));
          if (saves) {
            status.setDataPath(way);
            status.setDataPathReason(
                path.length > 1 && !path[1].isBlank() ? path[1] : "every rule of it holds");
          }
        });
  }

  private ArtifactStatus artifact(ArtifactStage.SealedArtifact sealed) {
    return new ArtifactWords(parts.nodeName(), made.nodeLocal())
        .of(
            java.util.Objects.requireNonNull(assignment.spec().getArtifact()),
            sealed.manifest(),
            sealed.sha256());
  }
}
