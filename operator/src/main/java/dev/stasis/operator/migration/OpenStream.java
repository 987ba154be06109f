package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Opens both ends of the stream before the source is touched, so that final parts of the artifact
 * are sent while the rest is still saved. The migration does not depend on it: if an end does not
 * support that, the artifact is sent when it is complete.
 */
final class OpenStream extends Step<MigrationContext, MigrationPhase> {

  /** Maximum streams: another target, or a restarted agent, gets a new one. */
  private static final int TRIES = 3;

  private final MigrationOperations operations;
  private final ArtifactStream stream;

  OpenStream(MigrationOperations operations, MigrationReporter reporter) {
    super(
        "open-stream",
        List.of(MigrationPhase.TARGET_STARTING),
        new Timeout(
            "spec.options.deadline, " + TRIES + " tries",
            "An agent listens within seconds, or never."));
    this.operations = operations;
    this.stream = new ArtifactStream(operations, reporter, MigrationPhase.TARGET_STARTING);
  }

  @Override
  protected Progress observe(MigrationContext context) {
    if (context.isTouched()
        || context.admitted().store().getSpec().sharesFolder()
        || context.sourceAgent().isEmpty()
        || context.targetAgent().isEmpty()) {
      return new Progress.Done();
    }
    Optional<OperationView> found = context.work().last(OperationType.RECEIVE);
    if (found.isEmpty()) {
      return stream.receive(context, 1, Optional.empty());
    }
    OperationView receive = found.get();
    int number = receive.number();
    Optional<OperationView> send = context.work().of(OperationType.SEND, number);
    String node = ArtifactStream.targetNode(context);
    if (!node.equals(receive.node()) || ArtifactStream.isOutdated(context, receive, send)) {
      return reopened(context, receive, send, number);
    }
    if (receive.isFinal() || send.isPresent()) {
      return new Progress.Done();
    }
    String listening = receive.status().getListening();
    return listening == null
        ? new Progress.Waiting(
            Reason.WAITING_FOR_AGENT,
            "the agent of node " + node + " is preparing to receive the artifact")
        : stream.send(context, number, Optional.empty(), listening);
  }

  private Progress reopened(
      MigrationContext context, OperationView receive, Optional<OperationView> send, int number) {
    Optional<OperationView> open =
        Stream.of(send, Optional.of(receive))
            .flatMap(Optional::stream)
            .filter(it -> !it.isFinal() && !it.isCancelled())
            .findFirst();
    if (open.isPresent()) {
      return stream.cancel(open.get());
    }
    return number < TRIES
        ? stream.receive(context, number + 1, Optional.empty())
        : new Progress.Done();
  }

  @Override
  public String undoes() {
    return "closes the stream";
  }

  @Override
  protected Progress observeUndo(MigrationContext context) {
    return operations.cancelAll(context, TransferArtifact.ENDS);
  }
}
