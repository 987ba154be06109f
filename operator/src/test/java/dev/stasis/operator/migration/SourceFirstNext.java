package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.WorkflowRunner;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** What a migration with strategy Recreate does next once its source is being saved. */
sealed interface SourceFirstNext {

  /** It waits. */
  record Follow(Reason reason, String sentence) implements SourceFirstNext {}

  /** The GpuCheckpoint is cancelled: the source keeps running, unless it is gone by then. */
  record Stop(String why) implements SourceFirstNext {}

  /** The source keeps running. */
  record RollBack(List<Fault> faults) implements SourceFirstNext {
    public RollBack {
      faults = List.copyOf(faults);
    }
  }

  /** It is recorded that the source is gone. */
  record Commit() implements SourceFirstNext {}

  /** A GpuRestore is created; the number says which, the faults why the first one failed. */
  record BringBack(int number, List<Fault> before) implements SourceFirstNext {
    public BringBack {
      before = List.copyOf(before);
    }
  }

  /** A GpuRestore that finds no place where its user wants it is cancelled. */
  record GiveUp() implements SourceFirstNext {}

  /** The target is proven. */
  record Arrive() implements SourceFirstNext {}

  /** The workload runs nowhere; the artifact stays. */
  record End(Reason reason, String sentence) implements SourceFirstNext {}

  private static String reason(MigrationContext context) {
    return new Conditions(Objects.requireNonNull(context.status().getConditions()))
        .find(ConditionType.SUCCEEDED)
        .orElseThrow()
        .reason();
  }

  /** Returns what the current step does, run against fakes and a copy of the status. */
  static SourceFirstNext of(MigrationContext observed) {
    MigrationContext context = new Decider().copy(observed);
    MigrationFakes fakes = new MigrationFakes();
    AtomicReference<SourceFirstNext> act = new AtomicReference<>();
    SourceFirstObjects objects =
        new SourceFirstObjects(fakes.client(), new FakeCluster()) {

          @Override
          Optional<String> bringBack(GpuMigration migration, GpuCheckpoint from, int number) {
            act.set(new BringBack(number, List.of()));
            return Optional.empty();
          }

          @Override
          void cancel(HasMetadata object) {
            act.set(object instanceof GpuRestore ? new GiveUp() : new Stop(""));
          }
        };
    WorkflowRunner<MigrationContext, MigrationPhase> runner =
        fakes.runner(fakes.sourceFirst(objects));
    Optional<Progress> progress = runner.current(context).map(WorkflowRunner.Current::progress);
    runner.advance(context);
    if (progress.isEmpty()) {
      return new Arrive();
    }
    if (progress.get() instanceof Progress.Waiting waiting) {
      return new Follow(waiting.reason(), waiting.message());
    }
    if (progress.get() instanceof Progress.Failed failed) {
      return new RollBack(failed.faults());
    }
    if (progress.get() instanceof Progress.Lost lost) {
      return new End(lost.reason(), lost.message());
    }
    SourceFirstNext done = act.get();
    if (done instanceof BringBack back) {
      return new BringBack(back.number(), context.faults());
    }
    return done == null ? new Commit() : done instanceof Stop ? new Stop(reason(context)) : done;
  }
}
