package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Waits until the GpuCheckpoint has saved the source and evicted it. That eviction is the point of
 * no return; the GpuCheckpoint decides it, and undoes everything before it.
 */
final class AwaitSaved extends Step<MigrationContext, MigrationPhase> {

  private final SourceFirstObjects objects;

  AwaitSaved(SourceFirstObjects objects) {
    super(
        "await-saved",
        List.of(MigrationPhase.PENDING, MigrationPhase.FREEZING, MigrationPhase.TRANSFERRING),
        new Timeout(
            "spec.options.deadline",
            "Then the GpuCheckpoint is cancelled, unless the source is gone."));
    this.objects = objects;
  }

  /** The phases that the GpuCheckpoint reports. */
  @Override
  protected MigrationPhase phase(MigrationContext context) {
    return context.phase();
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isDecided()) {
      return new Progress.Done();
    }
    SourceFirstState state = context.sourceFirst();
    if (state.checkpoint().isEmpty()) {
      return withoutCheckpoint(context);
    }
    GpuCheckpoint checkpoint = state.checkpoint().get();
    CheckpointPhase phase = state.checkpointPhase();
    if (phase == CheckpointPhase.READY) {
      return new Progress.Done();
    }
    if (phase.isFinal()) {
      return undone(context);
    }
    Optional<Fault> stop = stopped(context);
    return stop.isPresent()
            && !SourceFirstState.isCancelled(
                checkpoint, checkpoint.getSpec().getOptions().getCancel())
        ? new Progress.Due(() -> stop(checkpoint, stop.get()))
        : SourceFirstState.follow(
            state.saving(), "GpuCheckpoint " + checkpoint.getMetadata().getName());
  }

  private Progress stop(GpuCheckpoint checkpoint, Fault why) {
    objects.cancel(checkpoint);
    return new Progress.Waiting(
        Reason.find(why.reason()).orElse(Reason.OPERATION_FAILED),
        "is being rolled back: " + why.message());
  }

  /** It was deleted: then it has undone its work, unless the source was gone by then. */
  private static Progress withoutCheckpoint(MigrationContext context) {
    Fault fault =
        Reason.OPERATION_FAILED.misfit(
            "GpuCheckpoint " + context.status().getCheckpoint(),
            "one that exists until the pod has moved",
            "a deleted one");
    boolean stays =
        context
            .source()
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .isPresent();
    return stays
        ? new Progress.Failed(fault)
        : new Progress.Lost(Reason.SOURCE_LOST, fault.message());
  }

  /** The GpuCheckpoint failed: the source runs, unless it was lost. */
  private static Progress undone(MigrationContext context) {
    SourceFirstState state = context.sourceFirst();
    Optional<Condition> source = state.source();
    String said = source.map(Condition::message).orElse("");
    if (source.filter(it -> Reason.NOT_THAWED.is(it.reason())).isPresent()) {
      return new Progress.Waiting(Reason.NOT_THAWED, said);
    }
    if (source.filter(it -> it.status() == ConditionValue.FALSE).isPresent()) {
      return new Progress.Lost(Reason.WORKLOAD_LOST, said);
    }
    if (source.filter(it -> it.status() == ConditionValue.UNKNOWN).isPresent()) {
      return new Progress.Lost(Reason.OPERATION_FAILED, said);
    }
    List<Fault> faults = new ArrayList<>(stopped(context).stream().toList());
    if (faults.isEmpty() || state.checkpointPhase() == CheckpointPhase.FAILED) {
      faults.addAll(state.savingFaults());
    }
    return new Progress.Failed(faults);
  }

  /** Events outside the migration that end it, while the source exists. */
  private static Optional<Fault> stopped(MigrationContext context) {
    if (context.isCancelled()) {
      return Optional.of(MigrationFaults.cancelled());
    }
    return context.deadline().isAfter(context.now())
        ? Optional.empty()
        : Optional.of(
            Reason.DEADLINE_EXCEEDED.misfit(
                "deadline",
                "a checkpoint of the source within "
                    + context.migration().getSpec().getOptions().getDeadline().text(),
                "phase " + context.phase().value()));
  }
}
