package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;

/** The workload runs and is verified: makes the pod ready. */
final class OpenReadinessGate extends Step<RestoreContext, RestorePhase> {

  private final PodWrites pods;
  private final RestoreReporter reporter;

  OpenReadinessGate(PodWrites pods, RestoreReporter reporter) {
    super(
        "open-readiness-gate",
        List.of(RestorePhase.VERIFYING, RestorePhase.SUCCEEDED),
        Timeout.none("One write to the API server, which is retried."));
    this.pods = pods;
    this.reporter = reporter;
  }

  @Override
  protected Progress observe(RestoreContext context) {
    Pod target = context.theTarget();
    return target.getMetadata().getDeletionTimestamp() == null
        ? Progress.Due.of(() -> open(context))
        : new Progress.Failed(
            Reason.TARGET_LOST.misfit(
                "pod " + target.getMetadata().getName(),
                "a pod that exists until the verification",
                "a pod that is being deleted"));
  }

  /** The gate first: after a crash before the status is written, both are done again. */
  private void open(RestoreContext context) {
    Pod target = context.theTarget();
    OperationView operation = context.operation().orElseThrow();
    String by = "GpuRestore " + context.restore().getMetadata().getName();
    pods.condition(
        target, PodConditionUpdate.restored(true, Reason.PROVEN.value(), "restored by " + by));
    boolean raised =
        context.source() instanceof Source.Ready source && source.raisedMemory().isPresent();
    String container =
        Objects.requireNonNull(operation.operation().getSpec().getPod()).containerName();
    context.updater().proven(target, operation, container, raised);
    RestoreTimings timings = context.status().getTimings();
    String took = timings == null || timings.getTook() == null ? "" : timings.getTook();
    String message = context.status().getMessage() + (took.isEmpty() ? "" : " after " + took);
    reporter.proven(context, target, by + ": " + message, message);
  }
}
