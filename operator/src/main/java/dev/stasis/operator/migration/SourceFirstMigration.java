package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Moves a pod that is saved and evicted before its target is created. */
@Singleton
class SourceFirstMigration extends MigrationWorkflow {

  private final List<Step<MigrationContext, MigrationPhase>> steps;
  private final SourceFirstCleanup cleanup;

  SourceFirstMigration(
      MigrationOperations operations,
      SourceFirstObjects objects,
      Cluster cluster,
      MigrationReporter reporter,
      FinishedMigration finished,
      Throttle throttle,
      PodWrites pods,
      StasisConfig config) {
    super(reporter, throttle, finished, new DeleteArtifacts(operations), config);
    this.cleanup = new SourceFirstCleanup(objects, cluster);
    this.steps =
        List.of(
            new InspectSource(operations),
            new AwaitPlace(),
            new SaveSource(objects, new EvictionCheck(pods), reporter),
            new AwaitSaved(objects),
            new Commit(List.of(MigrationPhase.TRANSFERRING), this::commit),
            new RestoreElsewhere(objects, reporter));
  }

  @Override
  public List<Step<MigrationContext, MigrationPhase>> steps() {
    return steps;
  }

  /** The source is gone, and its artifact is stored. */
  private void commit(MigrationContext context) {
    context.sourceFirstUpdater().commits();
    reporter.normal(context, Reason.EVICTED, SourceFirstStatusUpdater.NO_WAY_BACK, "removed");
  }

  /** The step that waits for the GpuCheckpoint undoes the work. */
  @Override
  public Optional<Fault> stop(MigrationContext context) {
    return context.status().getCheckpoint() == null ? super.stop(context) : Optional.empty();
  }

  /** The phases of the GpuCheckpoint and, once it exists, the GpuRestore. */
  @Override
  public void waits(MigrationContext context, MigrationPhase phase, Progress.Waiting waiting) {
    if (context.status().getCheckpoint() == null) {
      super.waits(context, phase, waiting);
    } else {
      context.sourceFirstUpdater().waits(waiting.reason(), waiting.message());
    }
  }

  /** The workload runs nowhere; the only copy is kept. */
  @Override
  public void loses(MigrationContext context, Progress.Lost lost) {
    ArtifactStatus artifact = context.status().getArtifact();
    String remains =
        artifact == null
            ? ""
            : "; its artifact stays at %s in store %s: to restore it, run kubectl stasis restore %s"
                .formatted(
                    artifact.getLocation(), artifact.getStore(), context.status().getCheckpoint());
    context.sourceFirstUpdater().ended(lost.reason(), lost.message() + remains);
    throttle.giveBack(context.migration());
    reporter.failed(
        context, new FaultSummary(context.faults()).reason(Reason.OPERATION_FAILED), () -> {});
  }

  /** The target is verified, possibly on the original node. */
  @Override
  public Progress completed(MigrationContext context) {
    context.sourceFirstUpdater().arrived(context.sourceFirst().restore().orElseThrow().getStatus());
    throttle.giveBack(context.migration());
    if (context.phase() == MigrationPhase.SUCCEEDED) {
      reporter.succeeded(context);
    } else {
      reporter.restoredAtHome(context);
    }
    return new Progress.Done();
  }

  @Override
  public Optional<Duration> rest(MigrationContext context) {
    if (cleanup.afterEnd(context)) {
      return super.rest(context);
    }
    finished.tidy(context);
    return Optional.of(config.lookAgainEvery());
  }

  @Override
  public boolean release(MigrationContext context) {
    return cleanup.beforeRemoval(context) && super.release(context);
  }
}
