package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.AgentStep;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A step of a migration that an agent executes. */
abstract class MigrationAgentStep extends AgentStep<MigrationContext, MigrationPhase> {

  /** Creates the operations. */
  protected final MigrationOperations operations;

  private final Function<MigrationContext, Optional<NodeAgent>> agent;
  private final String activity;

  /**
   * @param agent the executing agent
   * @param activity what the agent does, for a message, such as {@code restores it}
   */
  MigrationAgentStep(
      MigrationOperations operations,
      String name,
      List<MigrationPhase> phases,
      Timeout timeout,
      Function<MigrationContext, Optional<NodeAgent>> agent,
      String activity) {
    super(operations.all(), name, phases, timeout);
    this.operations = operations;
    this.agent = agent;
    this.activity = activity;
  }

  @Override
  protected final List<Fault> faults(OperationView failed) {
    return MigrationFaults.of(failed);
  }

  /** Returns why the agent does not respond; empty if it does. */
  protected final Optional<String> agentAway(MigrationContext context) {
    return agent.apply(context).flatMap(NodeAgent::silent);
  }

  @Override
  protected Progress waiting(MigrationContext context, OperationView operation) {
    Optional<String> silent = agentAway(context);
    return silent.isPresent()
        ? new Progress.Waiting(Reason.NODE_SILENT, silent.get())
        : new Progress.Waiting(
            operation.isClaimed() ? Reason.IN_PROGRESS : Reason.WAITING_FOR_AGENT,
            "node " + operation.node() + " " + activity);
  }
}
