package dev.stasis.operator.migration;

import dev.stasis.operator.operation.OperationView;
import java.util.Optional;

/** The keys of both agents, as each was told the other's: an agent that starts anew has another. */
final class Keys {

  private final View view;

  Keys(View view) {
    this.view = view;
  }

  /** Whether an end that is still at work waits for a key that its peer has no more. */
  boolean changed(OperationView receive, Optional<OperationView> send) {
    return isOutdated(receive, view.sourceAgent())
        || send.filter(it -> isOutdated(it, view.targetAgent())).isPresent();
  }

  private static boolean isOutdated(OperationView end, Optional<AgentState> peer) {
    return Optional.of(end)
        .filter(it -> !it.isFinal())
        .map(it -> it.operation().getSpec().getTransfer())
        .map(order -> order.getPeer().certificate())
        .filter(
            told ->
                peer.flatMap(AgentState::identity)
                    .map(identity -> identity.certificate())
                    .filter(now -> !now.equals(told))
                    .isPresent())
        .isPresent();
  }
}
