package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the hooks after a freeze with a workload that resumes later: through a Resume or Thaw, or by
 * a successor, which cannot know whether they have run before.
 */
final class AfterHooks {

  private final AgentParts parts;
  private final Consumer<ActiveOperation> leaveGpus;

  /**
   * Runs hooks of this agent's containers.
   *
   * @param leaveGpus releases the GPUs of an operation while its hooks run
   */
  AfterHooks(AgentParts parts, Consumer<ActiveOperation> leaveGpus) {
    this.parts = parts;
    this.leaveGpus = leaveGpus;
  }

  /** Runs the hooks of that operation, and adds their failures to its result. */
  OperationResult after(ActiveOperation operation, OperationResult result)
      throws InterruptedException {
    return after(operation, operation.spec().getFreeze(), result);
  }

  /** The same for the operation that froze what another one has thawed. */
  OperationResult after(
      ActiveOperation operation, @Nullable FreezeOrder order, OperationResult result)
      throws InterruptedException {
    OperationPod pod = operation.spec().getPod();
    if (result.workload() != WorkloadState.RUNNING
        || pod == null
        || order == null
        || order.getHooks() == null
        || order.getHooks().after() == null) {
      return result;
    }
    leaveGpus.accept(operation);
    List<String> failures;
    try {
      failures =
          new HookRunner(parts.exec())
              .run(
                  order.getHooks().after(),
                  "after",
                  new PodLookup(parts).place(pod),
                  HookRunner.Limit.after(parts.clock()))
              .failures();
    } catch (Refused | ApiUnreachable | NodeApiException e) {
      failures = List.of("hooks after the freeze: " + e.getMessage());
    }
    return failures.isEmpty() ? result : failed(result, String.join("; ", failures));
  }

  /** A failed hook does not change the workload: it runs. */
  static OperationResult failed(OperationResult result, String sentence) {
    return result.with(
        status ->
            status.setMessage(
                Objects.requireNonNullElse(status.getMessage(), "") + "; " + sentence));
  }
}
