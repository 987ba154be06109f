package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import java.util.Optional;

/** The stream from the agent of the source to that of the target: its operations, by number. */
final class ArtifactStream {

  private final MigrationOperations operations;
  private final MigrationReporter reporter;
  private final MigrationPhase phase;

  /**
   * @param phase phase of the migration while it is opened
   */
  ArtifactStream(MigrationOperations operations, MigrationReporter reporter, MigrationPhase phase) {
    this.operations = operations;
    this.reporter = reporter;
    this.phase = phase;
  }

  /** Returns the creation of the receiving end. */
  Progress receive(MigrationContext context, int number, Optional<ArtifactStatus> artifact) {
    return Progress.Due.of(
        () -> {
          String node = targetNode(context);
          String name =
              operations.create(
                  context, number, operations.orders().receive(context, number, artifact));
          ordered(
              context,
              name,
              false,
              "the agent of node " + node + " was requested to receive the artifact");
        });
  }

  /** Returns the creation of the sending end. */
  Progress send(
      MigrationContext context, int number, Optional<ArtifactStatus> artifact, String address) {
    return Progress.Due.of(
        () -> {
          String node = context.sourceAgent().orElseThrow().node();
          String name =
              operations.create(
                  context, number, operations.orders().send(context, number, artifact, address));
          String sentence = "the agent of node " + node + " was requested to send the artifact";
          ordered(context, name, true, sentence);
          reporter.normal(context, Reason.IN_PROGRESS, sentence, "send " + number);
        });
  }

  private void ordered(MigrationContext context, String name, boolean ofSource, String sentence) {
    context.updater().ordered(phase, name, ofSource, sentence);
    reporter.mark(context);
  }

  Progress cancel(OperationView open) {
    return Progress.Due.of(() -> operations.cancel(open));
  }

  /** Returns whether an open end has a key that its peer no longer has. */
  static boolean isOutdated(
      MigrationContext context, OperationView receive, Optional<OperationView> send) {
    return isOutdated(receive, context.sourceAgent())
        || send.filter(it -> isOutdated(it, context.targetAgent())).isPresent();
  }

  /** An agent that was restarted has another key. */
  private static boolean isOutdated(OperationView end, Optional<NodeAgent> peer) {
    return Optional.of(end)
        .filter(it -> !it.isFinal())
        .map(it -> it.operation().getSpec().getTransfer())
        .map(order -> order.getPeer().certificate())
        .filter(
            told ->
                peer.flatMap(NodeAgent::identity)
                    .map(identity -> identity.certificate())
                    .filter(now -> !now.equals(told))
                    .isPresent())
        .isPresent();
  }

  static String targetNode(MigrationContext context) {
    return context.target().orElseThrow().getSpec().getNodeName();
  }
}
