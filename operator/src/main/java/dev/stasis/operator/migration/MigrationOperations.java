package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.Set;

/** Creates and cancels the operations of migrations. */
@Singleton
class MigrationOperations {

  private final Operations operations;
  private final Orders orders;

  MigrationOperations(Operations operations, KubernetesClient client) {
    this.operations = operations;
    this.orders = new Orders(new Template(client.getKubernetesSerialization()));
  }

  Operations all() {
    return operations;
  }

  /** Returns the specs of the operations. */
  Orders orders() {
    return orders;
  }

  GpuNodeOperation draft(MigrationContext context, int number, GpuNodeOperationSpec spec) {
    return operations.draft(
        RequesterKind.MIGRATION.reference(context.migration().getMetadata()), number, spec);
  }

  /** Creates an operation; returns its name. */
  String create(MigrationContext context, int number, GpuNodeOperationSpec spec) {
    GpuNodeOperation operation = draft(context, number, spec);
    operations.create(operation);
    return operation.getMetadata().getName();
  }

  void cancel(OperationView operation) {
    operations.withdrawOrCancel(operation.operation());
  }

  /**
   * Cancels unfinished operations, one after the other.
   *
   * @return the progress; an unavailable agent is not waited for
   */
  Progress cancelAll(MigrationContext context, Set<OperationType> types) {
    for (OperationView open : context.work().all()) {
      if (open.isFinal() || !types.contains(open.type())) {
        continue;
      }
      if (!open.isCancelled()) {
        return Progress.Due.of(() -> cancel(open));
      }
      Optional<NodeAgent> agent =
          open.type() == OperationType.SEND ? context.sourceAgent() : context.targetAgent();
      if (!agent.map(NodeAgent::isAway).orElse(true)) {
        String node = open.node();
        return new Progress.Waiting(Reason.IN_PROGRESS, "node " + node + " is rolling back");
      }
    }
    return new Progress.Done();
  }
}
