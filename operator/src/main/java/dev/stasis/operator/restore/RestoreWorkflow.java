package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.ColdStartPolicy;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Workflow;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Restores a GpuCheckpoint into a new pod. */
@Singleton
class RestoreWorkflow implements Workflow<RestoreContext, RestorePhase> {

  private final List<Step<RestoreContext, RestorePhase>> steps;
  private final RestoreTargets targets;
  private final RestoredPod restoredPod;
  private final RestoreReporter reporter;
  private final Operations operations;
  private final Cluster cluster;

  RestoreWorkflow(
      Cluster cluster,
      Operations operations,
      PodWrites pods,
      RestoreTargets targets,
      RestoredPod restoredPod,
      RestoreReporter reporter) {
    this.cluster = cluster;
    this.operations = operations;
    this.targets = targets;
    this.restoredPod = restoredPod;
    this.reporter = reporter;
    this.steps =
        List.of(
            new AwaitCheckpoint(),
            new AwaitNode(),
            new CreateTarget(targets, reporter),
            new DownloadArtifact(operations, cluster),
            new AwaitTarget(cluster),
            new RestoreIntoTarget(operations, reporter),
            new OpenReadinessGate(pods, reporter));
  }

  @Override
  public List<Step<RestoreContext, RestorePhase>> steps() {
    return steps;
  }

  @Override
  public void waits(RestoreContext context, RestorePhase phase, Progress.Waiting waiting) {
    context.updater().waits(phase, waiting, context);
    reporter.waits(context, waiting);
  }

  @Override
  public void fails(RestoreContext context, List<Fault> faults) {
    context.updater().fails(faults, context);
    FailedAttempt failed = new FailedAttempt(faults);
    reporter.warning(context, failed.reason(), failed.message(), "attempt " + context.attempts());
  }

  /** Tries another target, performs a cold start if allowed, or ends. */
  @Override
  public Progress undone(RestoreContext context) {
    if (context.isCancelled()) {
      context.updater().cancelled();
      reporter.cancelled(context);
      return new Progress.Done();
    }
    FailedAttempt failed = new FailedAttempt(context.faults());
    if (failed.isRetried(context.attempts())) {
      context.operation().map(OperationView::operation).ifPresent(operations::release);
      context.updater().retries(failed);
      return new Progress.Done();
    }
    if (context.restore().getSpec().getColdStartPolicy() == ColdStartPolicy.COLD_START) {
      return coldStart(context, failed);
    }
    return failed(context, failed, "failed, the checkpoint is unchanged: ");
  }

  private Progress coldStart(RestoreContext context, FailedAttempt failed) {
    if (!(context.source() instanceof Source.Ready source)) {
      return failed(context, failed, "no pod can be started: ");
    }
    TargetPods.Result result = targets.coldStart(context, source);
    if (result instanceof TargetPods.Postponed postponed) {
      return new Progress.Waiting(postponed.reason(), "cold start: " + postponed.message());
    }
    if (result instanceof TargetPods.Created created) {
      context.updater().coldStarted(created.pod(), source.container(), failed);
      String name = created.pod().getMetadata().getName();
      reporter.coldStarted(
          context,
          created.pod(),
          failed.reason(),
          "pod "
              + name
              + " started from its image because the restore failed: "
              + failed.message());
    }
    return new Progress.Done();
  }

  private Progress failed(RestoreContext context, FailedAttempt failed, String before) {
    context.updater().failed(failed);
    reporter.failed(context, failed.reason(), before + failed.message());
    return new Progress.Done();
  }

  @Override
  public Optional<Duration> rest(RestoreContext context) {
    release(context);
    return restoredPod.observe(context);
  }

  /** The operations' reports are in the status by now. */
  @Override
  public boolean release(RestoreContext context) {
    cluster.operations(context.restore().getMetadata().getUid()).stream()
        .filter(it -> OperationView.of(it).isFinal())
        .forEach(operations::release);
    return true;
  }
}
