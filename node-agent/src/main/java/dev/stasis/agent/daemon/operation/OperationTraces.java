package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.trace.Span;
import dev.stasis.trace.SpanContext;
import dev.stasis.trace.Spans;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Tells a collector of each operation and its steps, as parts of the operator's trace. */
public final class OperationTraces {

  private final String node;
  private final Spans spans;

  /**
   * On a node.
   *
   * @param spans takes what is told
   */
  public OperationTraces(String node, Spans spans) {
    this.node = node;
    this.spans = spans;
  }

  /** An operation is over, or waits for a decision. */
  void ended(Assignment assignment, Ending ending) {
    Optional<SpanContext> parent = assignment.parent();
    if (!spans.areWanted() || parent.isEmpty()) {
      return;
    }
    Instant end = assignment.now();
    SpanContext self = parent.get().child(assignment.name());
    boolean failed =
        ending.phase() == OperationPhase.FAILED || ending.phase() == OperationPhase.CANCELLED;
    spans.add(
        new Span(
            self,
            Optional.of(parent.get().spanId()),
            assignment.type().word(),
            assignment.entry().claimed(),
            end,
            attributes(assignment, ending),
            failed ? Optional.of(String.valueOf(ending.message())) : Optional.empty()));
    List<StepLog.Begun> steps = assignment.steps().all();
    for (int i = 0; i < steps.size(); i++) {
      StepLog.Begun step = steps.get(i);
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

  private Map<String, String> attributes(Assignment assignment, Ending ending) {
    ObjectReference requester = assignment.spec().getRequester();
    return Map.of(
        "k8s.node.name", node,
        "k8s.namespace.name", Objects.requireNonNullElse(requester.namespace(), ""),
        "stasis.requester", requester.kind() + "/" + requester.name(),
        "stasis.operation", assignment.name(),
        "stasis.phase", ending.phase().word(),
        "stasis.reason", String.valueOf(ending.reason()));
  }
}
