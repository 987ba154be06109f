package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/** Reports a GpuCheckpoint's progress as events of the object and its pod, and on the pod. */
final class CheckpointReporter {

  private final GpuCheckpoint object;
  private final Optional<Pod> pod;
  private final CheckpointStatusUpdater updater;
  private final EventRecorder events;
  private final PodWrites pods;

  CheckpointReporter(
      GpuCheckpoint object,
      Optional<Pod> pod,
      CheckpointStatusUpdater updater,
      EventRecorder events,
      PodWrites pods) {
    this.object = object;
    this.pod = pod;
    this.updater = updater;
    this.events = events;
    this.pods = pods;
  }

  void normal(Reason reason, String message, String occasion) {
    record(false, reason, message, occasion);
  }

  void warning(Reason reason, String message, String occasion) {
    record(true, reason, message, occasion);
  }

  private void record(boolean warning, Reason reason, String message, String occasion) {
    events.tell(new Story(object, warning, reason, message, occasion));
    recordOnPod(warning, reason, message, occasion);
  }

  /** The status of the object has the same; a pod has no status of its own for it. */
  void onPod(Reason reason, String message, String occasion) {
    recordOnPod(false, reason, message, occasion);
  }

  private void recordOnPod(boolean warning, Reason reason, String message, String occasion) {
    String onPod = "GpuCheckpoint %s: %s".formatted(object.getMetadata().getName(), message);
    String once = object.getMetadata().getUid() + "/" + occasion;
    pod.ifPresent(it -> events.tell(new Story(it, warning, reason, onPod, once)));
  }

  /** Reports on the pod that its workload is frozen. */
  void frozen(Reason reason, String message) {
    pod.ifPresent(it -> pods.condition(it, PodConditionUpdate.frozen(reason.value(), message)));
  }

  /** Reports on the pod that its workload is not frozen any more. */
  void notFrozen(Reason reason, String message) {
    pod.ifPresent(it -> pods.condition(it, PodConditionUpdate.notFrozen(reason.value(), message)));
  }

  /** The request has failed; reasons that only agents know are in the faults alone. */
  void fail(List<Fault> faults, Reason otherwise) {
    updater.faults(faults);
    FaultSummary summary = new FaultSummary(faults);
    fail(Reason.find(faults.get(0).reason()).orElse(otherwise), summary.message());
  }

  /** The request has failed. An artifact of an earlier suspension is still valid. */
  void fail(Reason reason, String message) {
    updater.failed(reason, message);
    warning(reason, message, "failed");
  }

  /** The request was canceled, and everything is undone. */
  void cancelled(String message) {
    updater.cancelled(message);
    normal(Reason.CANCELLED, message, "cancelled");
  }
}
