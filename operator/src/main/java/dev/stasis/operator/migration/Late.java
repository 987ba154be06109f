package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import java.util.Optional;
import java.util.Set;

/**
 * A node that nobody waited for any more is back after a switch-over: what it still holds of the
 * source is ended.
 */
final class Late {

  private final Deeds deeds;

  Late(Deeds deeds) {
    this.deeds = deeds;
  }

  void look(View view) {
    Optional<OperationView> freeze = view.work().freeze().filter(it -> !it.isFinal());
    if (freeze.isEmpty() || view.sourceAgent().map(AgentState::isAway).orElse(true)) {
      return;
    }
    Optional<OperationView> end = view.work().last(OperationType.END);
    boolean due =
        end.isEmpty()
            || (end.get().isFinal()
                && !end.get().succeeded()
                && Leftovers.isDue(end.get(), view.now()));
    if (due) {
      int number = end.map(Work::number).orElse(0) + 1;
      deeds.perform(new Next.Decided(OperationType.END, number, freeze.get()), view, Set.of());
    }
  }
}
