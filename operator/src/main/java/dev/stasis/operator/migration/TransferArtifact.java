package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Sends the artifact from the agent of the source to that of the target. */
final class TransferArtifact extends Step<MigrationContext, MigrationPhase> {

  /** The operations of the two ends. */
  static final Set<OperationType> ENDS = Set.of(OperationType.SEND, OperationType.RECEIVE);

  /** Maximum transfers: a restarted agent has another key, and needs a new stream. */
  static final int TRIES = 5;

  private final MigrationOperations operations;
  private final ArtifactStream stream;

  TransferArtifact(MigrationOperations operations, MigrationReporter reporter) {
    super(
        "transfer-artifact",
        List.of(MigrationPhase.TRANSFERRING),
        new Timeout(
            "spec.options.deadline, " + TRIES + " tries",
            "The source is frozen and can still be thawed; a failed stream is replaced."));
    this.operations = operations;
    this.stream = new ArtifactStream(operations, reporter, MigrationPhase.TRANSFERRING);
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isDecided() || context.restore().isPresent() || context.arrived().isPresent()) {
      return new Progress.Done();
    }
    Optional<ArtifactStatus> artifact = context.artifact();
    if (artifact.isEmpty() || context.sourceAgent().map(NodeAgent::nodeGone).orElse(true)) {
      return new Progress.Failed(
          Reason.SOURCE_LOST.misfit(
              "artifact", "one on the node of the source", "none, or no node"));
    }
    Optional<OperationView> found = context.work().last(OperationType.RECEIVE);
    if (found.isEmpty()) {
      return stream.receive(context, 1, artifact);
    }
    OperationView receive = found.get();
    int number = receive.number();
    Optional<OperationView> send = context.work().of(OperationType.SEND, number);
    // A completed receive without the artifact has received another one.
    if (receive.isFinal()
        || send.filter(it -> it.isFinal() && !it.succeeded()).isPresent()
        || ArtifactStream.isOutdated(context, receive, send)) {
      return sentAgain(context, receive, send);
    }
    String listening = receive.status().getListening();
    if (send.isEmpty() && listening != null && context.targetAgent().isPresent()) {
      return stream.send(context, number, artifact, listening);
    }
    String to = ArtifactStream.targetNode(context);
    return new Progress.Waiting(
        Reason.IN_PROGRESS,
        send.isPresent()
            ? "node %s is sending the artifact to node %s"
                .formatted(context.sourceAgent().get().node(), to)
            : "the agent of node " + to + " was requested to receive the artifact");
  }

  private Progress sentAgain(
      MigrationContext context, OperationView receive, Optional<OperationView> send) {
    List<OperationView> ends = Stream.concat(send.stream(), Stream.of(receive)).toList();
    Optional<OperationView> open = ends.stream().filter(it -> !it.isFinal()).findFirst();
    if (open.isPresent()) {
      String node = open.get().node();
      return open.get().isCancelled()
          ? new Progress.Waiting(
              Reason.TRANSFER_FAILED, "node " + node + " is ending a failed transfer")
          : stream.cancel(open.get());
    }
    if (receive.number() < TRIES) {
      return stream.receive(context, receive.number() + 1, context.artifact());
    }
    // The end that failed reports the reason; the other one was only stopped.
    return new Progress.Failed(
        MigrationFaults.of(
            ends.stream()
                .filter(it -> !it.isCancelled() && !it.faults().isEmpty())
                .findFirst()
                .orElse(receive)));
  }

  @Override
  public String undoes() {
    return "closes the stream";
  }

  @Override
  protected Progress observeUndo(MigrationContext context) {
    return operations.cancelAll(context, ENDS);
  }
}
