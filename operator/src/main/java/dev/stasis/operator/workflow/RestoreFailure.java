package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.holder.ContainerExit;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Explains a failed restore by how the workload ended in its target: the target is deleted next,
 * and its log with it.
 */
public final class RestoreFailure {

  /** The agent's reasons when processes of the workload have ended. */
  private static final Set<String> ENDED = Set.of("NotProven", "WorkloadGone");

  /** The kubelet lists the containers of its node every second. */
  private static final Duration UNTIL_REPORTED = Duration.ofSeconds(5);

  private final TargetReader reader = new TargetReader();
  private final ContainerExit exit = new ContainerExit();

  /**
   * Returns the failure; waiting for a short time if the kubelet has not reported the end.
   *
   * @param faults of the operation
   * @param container name of the container in the target
   */
  public Progress explain(
      OperationView operation,
      List<Fault> faults,
      Optional<Pod> target,
      String container,
      Instant now) {
    if (target.isEmpty()) {
      return new Progress.Failed(faults);
    }
    Optional<String> end = exit.read(target.get(), container);
    if (end.isPresent()) {
      return new Progress.Failed(faults.stream().map(it -> with(it, end.get())).toList());
    }
    FaultSummary summary = new FaultSummary(faults);
    boolean waits =
        summary.hasAnyOf(ENDED) && now.isBefore(operation.entered().plus(UNTIL_REPORTED));
    boolean runs = reader.read(target.get(), container) instanceof TargetState.Holding;
    return waits && runs
        ? new Progress.Waiting(Reason.IN_PROGRESS, summary.message())
        : new Progress.Failed(faults);
  }

  private static Fault with(Fault fault, String end) {
    return new Fault(
        fault.reason(),
        fault.property(),
        fault.wanted(),
        fault.found(),
        fault.step(),
        fault.driverError(),
        fault.message() + "; " + end);
  }
}
