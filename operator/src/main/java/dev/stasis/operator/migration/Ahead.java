package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Both ends of the stream are there before the source is touched: what is final of the artifact
 * then goes out while the rest is still made. It is never needed: where an end cannot do it, the
 * artifact is sent when it is whole.
 */
final class Ahead {

  /** Another target, or an agent that was started anew, gets a stream of its own as often. */
  private static final int TRIES = 3;

  /** What is to be done before the freeze; empty: nothing more. */
  Optional<Next> next(View view, Check.Admitted source, Pod target) {
    boolean shared = source.store().getSpec().getNodeLocal() == null;
    if (shared || view.sourceAgent().isEmpty() || view.targetAgent().isEmpty()) {
      return Optional.empty();
    }
    AgentState from = view.sourceAgent().get();
    String to = target.getSpec().getNodeName();
    Optional<OperationView> receive = view.work().last(OperationType.RECEIVE);
    if (receive.isEmpty()) {
      return Optional.of(new Next.Receive(1, Optional.empty(), from, to));
    }
    int number = Work.number(receive.get());
    Optional<OperationView> send = view.work().of(OperationType.SEND, number);
    boolean elsewhere = !to.equals(receive.get().operation().getSpec().getNodeName());
    if (elsewhere || new Keys(view).changed(receive.get(), send)) {
      return Stream.of(send, receive)
          .flatMap(Optional::stream)
          .filter(it -> !it.isFinal() && !it.isCancelled())
          .findFirst()
          .<Next>map(Next.Cancel::new)
          .or(
              () ->
                  number < TRIES
                      ? Optional.of(new Next.Receive(number + 1, Optional.empty(), from, to))
                      : Optional.empty());
    }
    if (receive.get().isFinal() || send.filter(OperationView::isFinal).isPresent()) {
      return Optional.empty();
    }
    String listening = receive.get().status().getListening();
    if (listening == null) {
      return Optional.of(
          new Next.Wait(
              MigrationPhase.TARGET_STARTING,
              Reason.WAITING_FOR_AGENT,
              "the agent of node " + to + " makes ready to receive it"));
    }
    return send.isPresent()
        ? Optional.empty()
        : Optional.of(
            new Next.Send(
                number,
                Optional.empty(),
                Objects.requireNonNull(listening),
                view.targetAgent().get()));
  }
}
