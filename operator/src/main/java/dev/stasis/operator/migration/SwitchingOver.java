package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.migration.Commitment;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * The target is the one: the source's pod is removed, then its tree is ended, then the artifacts
 * go. Nothing of the source ever runs again, whatever fails here.
 */
final class SwitchingOver {

  /** A controller takes a pod within a second; one that has not by then never will. */
  private static final Duration ADOPTION = Duration.ofMinutes(2);

  private final Leftovers leftovers = new Leftovers();

  Next next(View view) {
    if (view.owner().isPresent()
        && view.target().isPresent()
        && since(view).plus(ADOPTION).isAfter(view.now())) {
      return new Next.HandOver(view.owner().get(), view.target().get());
    }
    Optional<Pod> source = view.source();
    if (source.isPresent() && source.get().getMetadata().getDeletionTimestamp() == null) {
      return new Next.RemoveSource(source.get());
    }
    boolean waits =
        view.sourceAgent()
            .map(agent -> !agent.isGivenUp(since(view), view.orphanAfter(), view.now()))
            .orElse(false);
    Optional<OperationView> freeze = view.work().freeze().filter(it -> !it.isFinal());
    if (freeze.isPresent() && waits) {
      return end(view, freeze.get());
    }
    if (source.isPresent() && waits) {
      return waiting("pod " + source.get().getMetadata().getName() + " is being removed");
    }
    return leftovers.next(view, MigrationPhase.SWITCHING_OVER).orElseGet(Next.Succeed::new);
  }

  private static Next end(View view, OperationView freeze) {
    Optional<OperationView> end = view.work().last(OperationType.END);
    if (end.isEmpty()) {
      return new Next.Decided(OperationType.END, 1, freeze);
    }
    if (end.get().isFinal() && !end.get().succeeded() && Leftovers.isDue(end.get(), view.now())) {
      // The agent may have been asked before it has seen the pod go.
      return new Next.Decided(OperationType.END, Work.number(end.get()) + 1, freeze);
    }
    return view.sourceAgent()
        .flatMap(AgentState::silent)
        .<Next>map(why -> new Next.Wait(MigrationPhase.SWITCHING_OVER, Reason.NODE_SILENT, why))
        .orElseGet(() -> waiting("the frozen source is ended"));
  }

  private static Instant since(View view) {
    Commitment decided = Objects.requireNonNull(view.status().getCommitment(), "it was decided");
    return decided.time();
  }

  private static Next waiting(String sentence) {
    return new Next.Wait(MigrationPhase.SWITCHING_OVER, Reason.SWITCHED_OVER, sentence);
  }
}
