package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.trace.Span;
import dev.stasis.trace.SpanContext;
import dev.stasis.trace.Spans;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Exports a span of each operation and its steps, as children of the operator's span. */
public final class OperationTraces {

  private final String node;
  private final Spans spans;

  /**
   * For a node.
   *
   * @param spans receives the spans
   */
  public OperationTraces(String node, Spans spans) {
    this.node = node;
    this.spans = spans;
  }

  /** An operation is finished, or waits for a decision. */
  void ended(ActiveOperation operation, OperationResult result) {
    Optional<SpanContext> parent = operation.parent();
    if (!spans.areWanted() || parent.isEmpty()) {
      return;
    }
    Instant end = operation.now();
    SpanContext self = parent.get().child(operation.name());
    boolean failed =
        result.phase() == OperationPhase.FAILED || result.phase() == OperationPhase.CANCELLED;
    spans.add(
        new Span(
            self,
            Optional.of(parent.get().spanId()),
            operation.type().value(),
            operation.claimed(),
            end,
            attributes(operation, result),
            failed ? Optional.of(String.valueOf(result.message())) : Optional.empty()));
    List<ActiveOperation.StartedStep> steps = operation.steps();
    for (int i = 0; i < steps.size(); i++) {
      ActiveOperation.StartedStep step = steps.get(i);
      spans.add(
          new Span(
              self.child(i + "/" + step.step()),
              Optional.of(self.spanId()),
              step.step(),
              step.at(),
              i + 1 < steps.size() ? steps.get(i + 1).at() : end,
              Map.of("k8s.node.name", node),
              Optional.empty()));
    }
  }

  private Map<String, String> attributes(ActiveOperation operation, OperationResult result) {
    ObjectReference requester = operation.spec().getRequester();
    return Map.of(
        "k8s.node.name", node,
        "k8s.namespace.name", Objects.requireNonNullElse(requester.namespace(), ""),
        "stasis.requester", requester.kind() + "/" + requester.name(),
        "stasis.operation", operation.name(),
        "stasis.phase", result.phase().value(),
        "stasis.reason", String.valueOf(result.reason()));
  }
}
