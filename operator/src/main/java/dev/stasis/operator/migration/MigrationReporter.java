package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.metric.CompletionMetrics;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Reports a migration's progress outside its status: events, conditions of its pods, metrics. */
@Singleton
class MigrationReporter {

  /** Events that may require a user's action. */
  private static final Set<Reason> WARNINGS =
      EnumSet.of(
          Reason.EVICTION_REFUSED,
          Reason.NO_NODE_FITS,
          Reason.REFUSED_BY_CLUSTER,
          Reason.IMAGE_NOT_AVAILABLE,
          Reason.NODE_SILENT,
          Reason.TRANSFER_FAILED);

  private static final Set<Reason> REPORTED =
      EnumSet.of(Reason.UNSCHEDULED, Reason.TOO_MANY_MIGRATIONS, Reason.ANOTHER_OPERATION);

  private final PodWrites pods;
  private final EventRecorder events;
  private final StasisMetrics metrics;
  private final CompletionMetrics completions;

  MigrationReporter(
      PodWrites pods, EventRecorder events, StasisMetrics metrics, CompletionMetrics completions) {
    this.pods = pods;
    this.events = events;
    this.metrics = metrics;
    this.completions = completions;
  }

  void waits(MigrationContext context, Progress.Waiting waiting) {
    Reason reason = waiting.reason();
    if (WARNINGS.contains(reason) || REPORTED.contains(reason)) {
      String occasion = "waits after attempt " + context.attempts() + " for " + reason;
      events.tell(
          new Story(
              context.migration(), WARNINGS.contains(reason), reason, waiting.message(), occasion));
    }
    mark(context);
  }

  /** Records an event on the migration and on its source. */
  void normal(MigrationContext context, Reason reason, String message, String occasion) {
    events.normal(context.migration(), reason, message, occasion);
    onPod(context.source(), context, false, reason, message, occasion);
  }

  void warning(MigrationContext context, Reason reason, String message, String occasion) {
    events.warning(context.migration(), reason, message, occasion);
  }

  private void onPod(
      Optional<Pod> pod,
      MigrationContext context,
      boolean warning,
      Reason reason,
      String message,
      String occasion) {
    String uid = context.migration().getMetadata().getUid();
    pod.ifPresent(
        it ->
            events.tell(
                new Story(
                    it, warning, reason, by(context) + ": " + message, uid + "/" + occasion)));
  }

  /** Sets the condition of the source that says whether it is frozen. */
  void mark(MigrationContext context) {
    boolean decided = context.decision().filter(it -> it == Decision.SWITCH_OVER).isPresent();
    if (context.source().isEmpty() || context.work().freeze().isEmpty() || decided) {
      return;
    }
    Pod source = context.source().get();
    OperationView freeze = context.work().freeze().get();
    WorkloadState state = freeze.workload();
    String frozen = "frozen by " + by(context);
    if (freeze.isLeftFrozen()) {
      pods.condition(
          source,
          PodConditionUpdate.frozen(
              Reason.NOT_THAWED.value(), frozen + "; its agent retries the thaw until it runs"));
    } else if (state == WorkloadState.FROZEN) {
      pods.condition(
          source,
          PodConditionUpdate.frozen(
              Reason.FROZEN.value(), frozen + ", which migrates it to another node"));
    } else if (state == WorkloadState.RUNNING) {
      thawed(source, "the workload runs");
    }
  }

  private void thawed(Pod source, String message) {
    pods.condition(source, PodConditionUpdate.notFrozen(Reason.RESUMED.value(), message));
  }

  /** Opens the readiness gate of the target; an operator that crashes before finds it closed. */
  void openGate(MigrationContext context) {
    context
        .target()
        .ifPresent(
            target ->
                pods.condition(
                    target,
                    PodConditionUpdate.restored(
                        true, Reason.PROVEN.value(), "moved by " + by(context))));
  }

  void succeeded(MigrationContext context) {
    String message = message(context);
    events.normal(context.migration(), Reason.PROVEN, message, "end");
    onPod(context.target(), context, false, Reason.PROVEN, message, "end");
    ended(context, Reason.PROVEN, () -> downtime(context));
  }

  private void downtime(MigrationContext context) {
    Long downtime = context.status().getDowntimeMilliseconds();
    if (downtime != null) {
      metrics.downtime(Duration.ofMillis(downtime));
    }
  }

  /**
   * Everything is undone.
   *
   * @param touched whether the source was frozen
   */
  void undone(MigrationContext context, boolean cancelled, boolean touched) {
    Reason reason = new FaultSummary(context.faults()).reason(Reason.OPERATION_FAILED);
    String message = message(context);
    Reason told = cancelled ? Reason.CANCELLED : reason;
    events.tell(new Story(context.migration(), !cancelled, told, message, "end"));
    if (touched) {
      context.source().ifPresent(pod -> thawed(pod, "the migration was rolled back"));
      onPod(context.source(), context, true, Reason.ROLLED_BACK, message, "end");
    }
    ended(context, reason, () -> {});
  }

  /** A GpuRestore restores it. */
  void restores(MigrationContext context, List<Fault> before, String name) {
    if (before.isEmpty()) {
      events.normal(context.migration(), Reason.STARTING, message(context), name);
    } else {
      Reason reason = new FaultSummary(before).reason(Reason.OPERATION_FAILED);
      warning(context, reason, message(context), name);
    }
  }

  /** It was restored on its original node. */
  void restoredAtHome(MigrationContext context) {
    Reason reason = new FaultSummary(context.faults()).reason(Reason.OPERATION_FAILED);
    failed(context, reason, () -> downtime(context));
  }

  /** It failed; the workload may not run. */
  void failed(MigrationContext context, Reason reason, Runnable figures) {
    warning(context, reason, message(context), "end");
    ended(context, reason, figures);
  }

  void workloadLost() {
    metrics.workloadLost();
  }

  /** Counts the end once it is written. */
  private void ended(MigrationContext context, Reason reason, Runnable figures) {
    String phase = context.phase().value();
    completions.onceWritten(
        context.migration(),
        phase,
        () -> {
          metrics.ended(context.migration(), phase, reason.value());
          figures.run();
        });
  }

  private static String message(MigrationContext context) {
    return Objects.requireNonNullElse(context.status().getMessage(), "");
  }

  private static String by(MigrationContext context) {
    return "GpuMigration " + context.migration().getMetadata().getName();
  }
}
