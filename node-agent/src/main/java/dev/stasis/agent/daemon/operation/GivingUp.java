package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Objects;
import java.util.Optional;

/** Undoes a freeze that waits for a decision: cancelled, or out of time. */
final class GivingUp {

  private static final System.Logger LOG = System.getLogger(GivingUp.class.getName());

  private final AgentParts parts;
  private final Desk desk;
  private final AfterHooks hooks;

  GivingUp(AgentParts parts, Desk desk, AfterHooks hooks) {
    this.parts = parts;
    this.desk = desk;
    this.hooks = hooks;
  }

  /**
   * Thaws, unless the pod is being deleted: then nothing may run in it any more, and only an End
   * decides.
   */
  void run(Assignment assignment, boolean outOfTime) throws ApiUnreachable, InterruptedException {
    if (assignment.entry().stage() != JournalEntry.Stage.HELD) {
      return; // Somebody decided meanwhile.
    }
    FreezeOrder order = assignment.spec().getFreeze();
    if (order != null && order.getHeldUntilDecided()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} is held beyond its deadline: another copy may run, so only Thaw or End decides",
          assignment.name());
      return;
    }
    if (new DeletedPod(parts).of(Objects.requireNonNull(assignment.spec().getPod()))) {
      LOG.log(
          System.Logger.Level.INFO,
          "{0} is not thawed: its pod is being deleted",
          assignment.name());
      return;
    }
    String reason = outOfTime ? "DeadlineExceeded" : "Cancelled";
    desk.enter(assignment, OperationPhase.UNDOING);
    Ending ending = new Settlement(parts).thawed(assignment, reason, "it was held until then");
    ending = hooks.after(assignment, ending);
    if (ending.outcome() == Outcome.UNDONE && staysUp(assignment)) {
      deleteArtifact(assignment);
      ending = ending.with(status -> status.setArtifact(null));
    }
    desk.end(
        assignment,
        outOfTime || ending.outcome() != Outcome.UNDONE
            ? ending
            : ending.in(OperationPhase.CANCELLED));
  }

  /**
   * Returns whether the pod was seen without a deletionTimestamp after the thaw. A thaw takes
   * seconds, and an eviction that comes meanwhile ends the workload: its artifact is then the only
   * copy. Without an answer of the API server it stays too.
   */
  private boolean staysUp(Assignment assignment) {
    try {
      if (!new DeletedPod(parts).of(Objects.requireNonNull(assignment.spec().getPod()))) {
        return true;
      }
      LOG.log(
          System.Logger.Level.WARNING,
          "artifact of {0} stays: its pod was deleted while it was thawed",
          assignment.name());
    } catch (ApiUnreachable e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "artifact of {0} stays: whether its pod is being deleted is not known: {1}",
          assignment.name(),
          e.getMessage());
    }
    return false;
  }

  /** Everything is as before, so there is no artifact either. */
  private void deleteArtifact(Assignment assignment) {
    ArtifactReference reference = Objects.requireNonNull(assignment.spec().getArtifact());
    try {
      ArtifactPlace place = new ArtifactPlaces(parts.stores()).of(reference, reference.namespace());
      Optional<String> use = parts.engine().artifactUse().of(place.path());
      if (use.isPresent()) {
        LOG.log(
            System.Logger.Level.WARNING,
            "artifact of {0} stays: needed by {1}",
            assignment.name(),
            use.get());
      } else if (Files.exists(place.path(), LinkOption.NOFOLLOW_LINKS)) {
        new ArtifactStore(place.folder(), parts.clock()).delete(place.name());
      }
    } catch (IOException | Refused e) {
      LOG.log(System.Logger.Level.WARNING, "artifact of " + assignment.name() + " stays", e);
    }
  }
}
