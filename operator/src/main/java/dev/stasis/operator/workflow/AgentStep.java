package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.status.Reason;
import java.util.List;
import java.util.Optional;

/**
 * A step that the agent of a node executes: its operation is created, claimed and followed to its
 * end. The name of the operation is derived from the request, so an operator that crashes in
 * between finds it again.
 *
 * @param <C> the observed state of one request
 * @param <P> the phases of the kind
 */
public abstract class AgentStep<C extends RequestContext<P>, P extends Enum<P> & Phase<P>>
    extends Step<C, P> {

  private final Operations operations;

  protected AgentStep(Operations operations, String name, List<P> phases, Timeout timeout) {
    super(name, phases, timeout);
    this.operations = operations;
  }

  /** Returns the operation of this attempt; empty before it is created. */
  protected abstract Optional<OperationView> operation(C context);

  /** Returns the operation to create. */
  protected abstract GpuNodeOperation draft(C context, Operations operations);

  /** Reports that the operation is created. */
  protected void created(C context, GpuNodeOperation operation) {}

  /** Returns what is waited for while the operation is not final. */
  protected abstract Progress waiting(C context, OperationView operation);

  /** Returns why the step no longer waits for an unfinished operation; empty if it waits. */
  protected Optional<Progress> stopped(C context, OperationView operation) {
    return Optional.empty();
  }

  /** Returns what follows from a successful operation. */
  protected Progress succeeded(C context, OperationView operation) {
    return new Progress.Done();
  }

  /** Returns what follows from a failed operation. */
  protected Progress failed(C context, OperationView operation) {
    return new Progress.Failed(faults(operation));
  }

  /** Returns why an operation failed. */
  protected List<Fault> faults(OperationView failed) {
    return failed.faults().isEmpty()
        ? List.of(
            Reason.RESTORE_FAILED.misfit(
                "operation " + failed.name(),
                "Succeeded",
                failed.phase().value() + " " + failed.reason()))
        : failed.faults();
  }

  @Override
  protected Progress observe(C context) {
    Optional<OperationView> operation = operation(context);
    if (operation.isEmpty()) {
      return Progress.Due.of(() -> create(context));
    }
    OperationView found = operation.get();
    if (found.isFinal()) {
      return found.succeeded() ? succeeded(context, found) : failed(context, found);
    }
    return stopped(context, found).orElseGet(() -> waiting(context, found));
  }

  private void create(C context) {
    GpuNodeOperation operation = draft(context, operations);
    operations.create(operation);
    created(context, operation);
  }
}
