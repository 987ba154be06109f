package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Optional;

/** Undoes a held freeze when it is canceled or its deadline passes. */
final class HoldTimeout {

  private static final System.Logger LOG = System.getLogger(HoldTimeout.class.getName());

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final AfterHooks hooks;

  HoldTimeout(AgentParts parts, OperationRecorder recorder, AfterHooks hooks) {
    this.parts = parts;
    this.recorder = recorder;
    this.hooks = hooks;
  }

  /**
   * Thaws, unless the pod is being deleted: then nothing may run in it any more, and only an End
   * decides.
   */
  void run(ActiveOperation operation, boolean outOfTime)
      throws ApiUnreachable, InterruptedException {
    if (operation.stage() != OperationStage.HELD) {
      return; // The decision was made meanwhile.
    }
    if (operation.isHeldUntilDecided()) {
      LOG.log(
          Level.WARNING,
          "{0} is held beyond its deadline: another copy may run, so only Thaw or End decides",
          operation.name());
      return;
    }
    if (new PodLookup(parts).isDeleted(operation.pod())) {
      LOG.log(Level.INFO, "{0} is not thawed: its pod is being deleted", operation.name());
      return;
    }
    String reason = outOfTime ? "DeadlineExceeded" : "Cancelled";
    recorder.enter(operation, OperationPhase.UNDOING);
    OperationResult result =
        new InterruptedOperationRecovery(parts)
            .thawed(operation, reason, "the hold deadline passed");
    result = hooks.after(operation, result);
    if (result.outcome() == Outcome.UNDONE && staysUp(operation)) {
      deleteArtifact(operation);
      result = result.with(status -> status.setArtifact(null));
    }
    recorder.end(
        operation,
        outOfTime || result.outcome() != Outcome.UNDONE
            ? result
            : result.in(OperationPhase.CANCELLED));
  }

  /**
   * Returns whether the pod was seen without a deletionTimestamp after the thaw. A thaw takes
   * seconds, and an eviction during that time ends the workload: its artifact is then the only
   * copy. If the API server does not answer, the artifact is kept too.
   */
  private boolean staysUp(ActiveOperation operation) {
    try {
      if (!new PodLookup(parts).isDeleted(operation.pod())) {
        return true;
      }
      LOG.log(
          Level.WARNING,
          "artifact of {0} stays: its pod was deleted while it was thawed",
          operation.name());
    } catch (ApiUnreachable e) {
      LOG.log(
          Level.WARNING,
          "artifact of {0} stays: whether its pod is being deleted is not known: {1}",
          operation.name(),
          e.getMessage());
    }
    return false;
  }

  /** The state is that before the freeze, so the artifact is deleted too. */
  private void deleteArtifact(ActiveOperation operation) {
    try {
      ArtifactPlace place = ArtifactPlace.of(parts.cluster(), operation.artifact());
      Optional<String> use = parts.engine().artifactUse().of(place.path());
      if (use.isPresent()) {
        LOG.log(Level.WARNING, "artifact of {0} stays: needed by {1}", operation.name(), use.get());
      } else if (place.exists()) {
        new ArtifactStore(place.folder(), parts.clock()).delete(place.name());
      }
    } catch (IOException | Refused e) {
      LOG.log(Level.WARNING, "artifact of " + operation.name() + " stays", e);
    }
  }
}
