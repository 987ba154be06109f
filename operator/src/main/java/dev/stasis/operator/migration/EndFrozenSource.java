package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;

/** Ends the frozen source, and waits until its pod is gone. It never runs again. */
final class EndFrozenSource extends Step<MigrationContext, MigrationPhase> {

  private final FrozenSource frozen;

  EndFrozenSource(MigrationOperations operations) {
    super(
        "end-frozen-source",
        List.of(MigrationPhase.SWITCHING_OVER),
        new Timeout(
            "orphanAfter without a report of its agent",
            "Longer than a node takes to reboot; an agent that is available later ends it then."));
    this.frozen = new FrozenSource(operations);
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isSourceGivenUp()) {
      return new Progress.Done();
    }
    Optional<OperationView> freeze = context.work().freeze().filter(it -> !it.isFinal());
    if (freeze.isPresent()) {
      return frozen
          .nextEnd(context, freeze.get())
          .<Progress>map(it -> it)
          .orElseGet(() -> ending(context));
    }
    return context
        .source()
        .map(pod -> waiting("pod " + pod.getMetadata().getName() + " is being removed"))
        .orElseGet(Progress.Done::new);
  }

  private static Progress ending(MigrationContext context) {
    return context
        .sourceAgent()
        .flatMap(NodeAgent::silent)
        .<Progress>map(why -> new Progress.Waiting(Reason.NODE_SILENT, why))
        .orElseGet(() -> waiting("the frozen source is ended"));
  }

  private static Progress waiting(String message) {
    return new Progress.Waiting(Reason.SWITCHED_OVER, message);
  }
}
