package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.restore.ExcludedNode;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.StatusUpdater;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Writes observations and actions into the status of a GpuRestore. */
final class RestoreStatusUpdater extends StatusUpdater<RestorePhase, GpuRestoreStatus> {

  private final GpuRestore restore;
  private final RestoreTimingsReader stopwatch = new RestoreTimingsReader();

  RestoreStatusUpdater(GpuRestore restore, Instant now) {
    super(restore, restore.getStatus(), ConditionType.SUCCEEDED, now);
    this.restore = restore;
  }

  void waits(RestorePhase phase, Progress.Waiting waiting, RestoreContext context) {
    enter(phase);
    report().working(waiting.reason(), waiting.message()).writeTo(status);
    places(context);
    context.target().ifPresent(this::node);
    context.operation().ifPresent(this::progress);
  }

  /** A target exists: the next attempt has started. */
  void targetCreated(Pod target, String container, List<String> others) {
    enter(RestorePhase.STARTING);
    status.setAttempts(Objects.requireNonNullElse(status.getAttempts(), 0) + 1);
    status.setPod(observed(target, container));
    status.setOtherContainers(others.isEmpty() ? null : others);
    status.setNodes(null);
    report()
        .working(Reason.STARTING, "pod " + target.getMetadata().getName() + " is being scheduled")
        .writeTo(status);
  }

  /** The agent has its operation. */
  void operationCreated(String operation, Pod target) {
    enter(RestorePhase.RESTORING);
    node(target);
    status.setOperation(operation);
    report()
        .working(
            Reason.WAITING_FOR_AGENT,
            "the agent of node " + target.getSpec().getNodeName() + " was requested to restore it")
        .writeTo(status);
  }

  /** The attempt has failed; it is undone next. */
  void fails(List<Fault> faults, RestoreContext context) {
    context.target().ifPresent(this::node);
    status.setFaults(faults);
    status.copyProgress(null);
    FailedAttempt failed = new FailedAttempt(faults);
    report().working(failed.reason(), failed.message()).writeTo(status);
  }

  /** Everything is undone, and another target is tried. */
  void retries(FailedAttempt failed) {
    // A target in Restoring first returns to Starting, and then is deleted.
    enter(RestorePhase.STARTING);
    enter(RestorePhase.PENDING);
    ObservedPod tried = status.getPod();
    if (failed.excludesNode() && tried != null && tried.node() != null) {
      List<ExcludedNode> excluded =
          new ArrayList<>(
              Objects.requireNonNullElse(status.getExcludedNodes(), List.<ExcludedNode>of()));
      excluded.add(new ExcludedNode(tried.node(), now(), failed.faults()));
      status.setExcludedNodes(excluded);
    }
    status.setPod(null);
    status.setOperation(null);
    status.setFaults(null);
    report()
        .working(Reason.WAITING, "another target is tried after: " + failed.message())
        .writeTo(status);
  }

  /** The workload runs and is verified. */
  void proven(Pod target, OperationView operation, String container, boolean raised) {
    GpuNodeOperationStatus said = operation.status();
    enter(RestorePhase.VERIFYING);
    ends(RestorePhase.SUCCEEDED);
    node(target);
    status.setProof(said.getProof());
    status.setHardware(said.getHardware());
    status.setTimings(stopwatch.timings(restore, target, container, operation));
    status.setRestarts(0);
    Report report = report().done(Reason.PROVEN, proof(said));
    if (raised) {
      report.limitRaised("the memory limit of container " + container + " is to be lowered again");
    }
    report.writeTo(status);
  }

  void failed(FailedAttempt failed) {
    ends(RestorePhase.FAILED);
    report().failed(failed.reason(), failed.message()).writeTo(status);
  }

  /** The workload had a cold start. */
  void coldStarted(Pod pod, String container, FailedAttempt failed) {
    ends(RestorePhase.COLD_STARTED);
    status.setPod(observed(pod, container));
    String message = "started from its image because the restore failed: " + failed.message();
    report()
        .notReached(Reason.COLD_STARTED, message)
        .also(ConditionType.COLD_STARTED, ConditionValue.TRUE, failed.reason(), message)
        .writeTo(status);
  }

  void cancelled() {
    ends(RestorePhase.CANCELLED);
    status.setPod(null);
    report()
        .stalled(Reason.CANCELLED, "cancelled; no target pod exists, the checkpoint is unchanged")
        .writeTo(status);
  }

  private void ends(RestorePhase phase) {
    enter(phase);
    status.setOperation(null);
    status.copyProgress(null);
  }

  private static String proof(GpuNodeOperationStatus said) {
    int processes =
        said.getProof() == null || said.getProof().processes() == null
            ? 0
            : said.getProof().processes().size();
    return processes + (processes == 1 ? " process runs" : " processes run") + ", verified";
  }

  private void places(RestoreContext context) {
    if (context.target().isEmpty()) {
      context.places().ifPresent(it -> it.writeTo(status));
    }
  }

  private void node(Pod target) {
    status.setPod(withNode(status.getPod(), target));
  }

  private void progress(OperationView operation) {
    GpuNodeOperationStatus said = operation.status();
    status.setOperation(operation.isFinal() ? null : operation.name());
    status.copyProgress(said);
    status.setHardware(latest(said.getHardware(), status.getHardware()));
  }
}
