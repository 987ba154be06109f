package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.metric.CompletionMetrics;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;

/** Reports a GpuRestore's progress as events and metrics. */
@Singleton
class RestoreReporter {

  private final EventRecorder events;
  private final StasisMetrics metrics;
  private final CompletionMetrics tally;

  RestoreReporter(EventRecorder events, StasisMetrics metrics, CompletionMetrics tally) {
    this.events = events;
    this.metrics = metrics;
    this.tally = tally;
  }

  void normal(RestoreContext context, Reason reason, String message, String occasion) {
    events.normal(context.restore(), reason, message, occasion);
  }

  void warning(RestoreContext context, Reason reason, String message, String occasion) {
    events.warning(context.restore(), reason, message, occasion);
  }

  /** Anything that a user may have to act on is an event; the rest is in the status. */
  void waits(RestoreContext context, Progress.Waiting waiting) {
    String occasion = "waits after attempt " + context.attempts();
    switch (waiting.reason()) {
      case NO_NODE_FITS, REFUSED_BY_CLUSTER, IMAGE_NOT_AVAILABLE, TARGET_TAKEN ->
          warning(context, waiting.reason(), waiting.message(), occasion);
      // A controller takes a second or two for its next pod.
      case WAITING_FOR_CHECKPOINT, UNSCHEDULED, OWNER_LIVES ->
          normal(context, waiting.reason(), waiting.message(), occasion);
      default -> {}
    }
  }

  void proven(RestoreContext context, Pod pod, String onPod, String message) {
    normal(context, Reason.PROVEN, message, "end");
    events.normal(pod, Reason.PROVEN, onPod, uid(context));
    RestoreTimings timings = context.status().getTimings();
    counts(
        context,
        RestorePhase.SUCCEEDED,
        Reason.PROVEN,
        () -> {
          if (timings != null && timings.getTookMilliseconds() != null) {
            metrics.proven(Duration.ofMillis(timings.getTookMilliseconds()));
          }
        });
  }

  void coldStarted(RestoreContext context, Pod pod, Reason reason, String message) {
    warning(context, Reason.COLD_STARTED, message, "end");
    events.warning(pod, Reason.COLD_STARTED, message, uid(context));
    counts(context, RestorePhase.COLD_STARTED, reason, metrics::coldStart);
  }

  void failed(RestoreContext context, Reason reason, String message) {
    warning(context, reason, message, "end");
    counts(context, RestorePhase.FAILED, reason, () -> {});
  }

  void cancelled(RestoreContext context) {
    normal(context, Reason.CANCELLED, "cancelled; no target pod exists", "end");
    counts(context, RestorePhase.CANCELLED, Reason.CANCELLED, () -> {});
  }

  /** After the verification, a container that ends has a cold start. */
  void restarted(RestoreContext context, Pod pod, int known, int now, String message) {
    String occasion = uid(context) + "/restart/" + now;
    events.warning(pod, Reason.COLD_STARTED, message, occasion);
    if (events.warning(context.restore(), Reason.COLD_STARTED, message, occasion)) {
      for (int i = known; i < now; i++) {
        metrics.coldStart();
      }
    }
  }

  private void counts(
      RestoreContext context, RestorePhase end, Reason reason, Runnable alsoCounted) {
    GpuRestore restore = context.restore();
    tally.onceWritten(
        restore,
        end.value(),
        () -> {
          metrics.ended(restore, end.value(), reason.value());
          alsoCounted.run();
        });
  }

  private static String uid(RestoreContext context) {
    return context.restore().getMetadata().getUid();
  }
}
