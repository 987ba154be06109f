package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the hooks that come after a freeze where its workload goes on long afterwards: resumed,
 * thawed, or undone by a successor, which cannot know whether they have run before.
 */
final class AfterHooks {

  private final AgentParts parts;
  private final Consumer<Assignment> leaveGpus;

  /**
   * Runs hooks of this agent's containers.
   *
   * @param leaveGpus lets others have the GPUs of an operation while its hooks run
   */
  AfterHooks(AgentParts parts, Consumer<Assignment> leaveGpus) {
    this.parts = parts;
    this.leaveGpus = leaveGpus;
  }

  /** Runs those of that operation, and adds to its end what failed of them. */
  Ending after(Assignment assignment, Ending ending) throws InterruptedException {
    return after(assignment, assignment.spec().getFreeze(), ending);
  }

  /** The same of the operation that froze what another one has thawed. */
  Ending after(Assignment assignment, @Nullable FreezeOrder order, Ending ending)
      throws InterruptedException {
    OperationPod pod = assignment.spec().getPod();
    if (ending.workload() != WorkloadState.RUNNING
        || pod == null
        || order == null
        || order.getHooks() == null
        || order.getHooks().after() == null) {
      return ending;
    }
    leaveGpus.accept(assignment);
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
    return failures.isEmpty() ? ending : failed(ending, String.join("; ", failures));
  }

  /** What a hook does changes nothing about the workload: it runs. */
  static Ending failed(Ending ending, String sentence) {
    return ending.with(
        status ->
            status.setMessage(
                Objects.requireNonNullElse(status.getMessage(), "") + "; " + sentence));
  }
}
