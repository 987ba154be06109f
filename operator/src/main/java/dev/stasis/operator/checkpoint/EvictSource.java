package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Removes the pod once the artifact is stored; the workload is still frozen. The deletion of the
 * pod is the point of no return: SIGTERM is then pending in the frozen processes, so they are never
 * thawed after it, and never ended before it.
 */
final class EvictSource extends FreezeStep {

  private final ArtifactUpload upload;
  private final PodWrites pods;
  private final Departure departure;

  EvictSource(CheckpointOperations operations, PodWrites pods, Departure departure) {
    super(
        operations,
        "evict-source",
        List.of(CheckpointPhase.SAVING),
        new Timeout(
            "spec.options.deadline", "Then the agent thaws it, unless the pod is deleted."));
    this.upload = new ArtifactUpload(operations);
    this.pods = pods;
    this.departure = departure;
  }

  @Override
  public Duration longestWait() {
    return Backoff.FROZEN;
  }

  @Override
  public String undoes() {
    return "cancels the operation; the agent thaws the workload";
  }

  @Override
  protected boolean isCurrent(CheckpointContext context, OperationView freeze) {
    return freeze.phase() == OperationPhase.HELD && !context.isPodLeaving();
  }

  @Override
  protected void run(CheckpointContext context, FreezeAttempt attempt, OperationView held) {
    upload.held(context, held);
    CheckpointStatusUpdater updater = context.updater();
    boolean late = !context.now().isBefore(deadline(held));
    if (held.isCancelled() || late) {
      // The agent thaws it, unless it sees the deletion of the pod before.
      updater.working(Reason.CANCELLED, "is being rolled back");
    } else if (context.isCancelled() || context.isDeleted()) {
      updater.working(Reason.CANCELLED, "is being rolled back");
      operations.cancel(held);
    } else if (!upload.isStored(context)) {
      upload.await(context);
    } else if (context.isForAnEviction()) {
      context.status().setFaults(null);
      updater.working(
          Reason.WAITING_FOR_EVICTION, "the artifact is stored; its pod may be evicted");
    } else {
      context.requeueAt(deadline(held));
      evict(context, held, context.pod().orElseThrow());
      return;
    }
    context.poll();
  }

  /** Its controller is to create the target instead of it, and must not count it as failed. */
  private void evict(CheckpointContext context, OperationView held, Pod pod) {
    CheckpointStatusUpdater updater = context.updater();
    Optional<String> owner = departure.prepare(pod);
    if (owner.isPresent()) {
      updater.working(Reason.OWNER_LIVES, owner.get());
      context.requeueAfter(
          new Backoff(context.config().progressEvery(), longestWait())
              .after(held.entered(), context.now()));
      return;
    }
    context.poll();
    if (pods.evict(pod, false) instanceof PodWrites.Refused refused) {
      updater.working(Reason.EVICTION_REFUSED, refused.sentence());
      updater.faults(
          List.of(
              Reason.EVICTION_REFUSED.misfit(
                  "eviction of pod " + pod.getMetadata().getName(),
                  "that it is accepted",
                  refused.sentence())));
      context.reporter().warning(Reason.EVICTION_REFUSED, refused.sentence(), held.name());
    } else {
      context.status().setFaults(null);
      updater.working(Reason.IN_PROGRESS, "the pod is removed");
    }
  }
}
