package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Checkpoints a pod, suspends it, or imports an artifact. Only a deletion undoes the steps: the
 * agent undoes a canceled operation, and {@code report-result} reports the result.
 */
final class CheckpointWorkflow implements Workflow<CheckpointContext, CheckpointPhase> {

  private static final Set<CheckpointPhase> FROZEN =
      Set.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING, CheckpointPhase.RESUMING);

  /**
   * How long a status that reports a wait may keep its reason when the agent is asked, or accepts.
   * Nothing has been changed by then, and a silent agent is reported immediately. Half a minute:
   * agents begin later than usual while the API server is busy, and a write more per request would
   * keep it busy.
   */
  private static final Duration BEGINNING = Duration.ofSeconds(30);

  private final List<Step<CheckpointContext, CheckpointPhase>> steps;
  private final FinishedCheckpoint finished;
  private final CheckpointFinalizer finalizer;
  private final ArtifactUpload upload;
  private final ArtifactVerification verification;

  CheckpointWorkflow(
      List<Step<CheckpointContext, CheckpointPhase>> steps,
      FinishedCheckpoint finished,
      CheckpointFinalizer finalizer,
      ArtifactUpload upload,
      ArtifactVerification verification) {
    this.steps = List.copyOf(steps);
    this.finished = finished;
    this.finalizer = finalizer;
    this.upload = upload;
    this.verification = verification;
  }

  @Override
  public List<Step<CheckpointContext, CheckpointPhase>> steps() {
    return steps;
  }

  @Override
  public void waits(CheckpointContext context, CheckpointPhase phase, Progress.Waiting waiting) {
    CheckpointStatusUpdater updater = context.updater();
    updater.transitionTo(phase);
    updater.working(waiting.reason(), waiting.message());
  }

  @Override
  public void fails(CheckpointContext context, List<Fault> faults) {
    Reason otherwise = context.isImport() ? Reason.NOT_IMPORTED : Reason.PREFLIGHT_REFUSED;
    context.reporter().fail(faults, otherwise);
  }

  @Override
  public void loses(CheckpointContext context, Progress.Lost lost) {
    context.reporter().fail(lost.reason(), lost.message());
  }

  /** Its operation was removed while it ran. The agent thaws a workload that it knows. */
  @Override
  public Progress completed(CheckpointContext context) {
    String message = "its operation was deleted while it was in progress";
    context.updater().source(ConditionValue.UNKNOWN, Reason.OPERATION_FAILED, message);
    context.reporter().fail(Reason.OPERATION_FAILED, message);
    return new Progress.Done();
  }

  @Override
  public Progress undone(CheckpointContext context) {
    return new Progress.Done();
  }

  @Override
  public Optional<Duration> rest(CheckpointContext context) {
    finished.observe(context);
    return context.requeue().soonest();
  }

  @Override
  public boolean isUndoneWhenFinal() {
    return true;
  }

  @Override
  public boolean release(CheckpointContext context) {
    return finalizer.release(context);
  }

  /**
   * An artifact is uploaded and verified whether its workload runs or is suspended, and verified
   * although an eviction has failed.
   */
  @Override
  public Optional<Duration> maintain(CheckpointContext context) {
    CheckpointPhase phase = context.phase();
    if (context.isDeleted()) {
      return Optional.empty();
    }
    if (phase.isFinal() || context.spec().getOptions().getTimeSlice() == null) {
      context.status().setTurn(null);
    }
    boolean active = phase == CheckpointPhase.READY || phase == CheckpointPhase.SUSPENDED;
    if (!active && !context.isReadyThoughFailed()) {
      return Optional.empty();
    }
    if (active && !context.isImport()) {
      upload.next(context);
    }
    verification.next(context);
    return context.requeue().soonest();
  }

  /**
   * The phases of a freeze can follow each other within a second. So do the request to the agent,
   * its acceptance and the freeze; on a busy cluster within some seconds.
   */
  @Override
  public Duration mayWait(CheckpointPhase before, CheckpointContext context) {
    CheckpointPhase after = context.phase();
    if (FROZEN.contains(before) && FROZEN.contains(after)) {
      return context.config().progressEvery();
    }
    if (before == after && (context.isRequested() || context.isAccepted()) && !isNews(context)) {
      return after == CheckpointPhase.PENDING ? BEGINNING : context.config().progressEvery();
    }
    return Duration.ZERO;
  }

  /** The first status is: without conditions, an object counts as finished (kstatus). */
  private static boolean isNews(CheckpointContext context) {
    return context.conditions().list().isEmpty()
        || context.isCancelled()
        || Reason.NODE_SILENT.is(context.status().getReason());
  }

  @Override
  public Duration requeueAfter(CheckpointContext context, Duration wait) {
    return context.requeue().soonest().orElse(wait);
  }
}
