package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * The source is the one: first nothing may run in the target any more, then the source goes on,
 * then the artifacts go.
 */
final class RollingBack {

  /**
   * As often an order is given anew that fails, each time after a longer wait. A source that still
   * stands still after so many thaws is tried on, but seldom.
   */
  private static final int THAWS = 10;

  /** Each try is an object; a person has been told long before. */
  private static final Duration SELDOM = Duration.ofMinutes(10);

  private final Leftovers leftovers = new Leftovers();

  Next next(View view) {
    Optional<Next> far = farEnd(view);
    if (far.isPresent()) {
      return far.get();
    }
    Optional<OperationView> freeze = view.work().freeze();
    if (freeze.isPresent()) {
      Optional<Next> near = source(view, freeze.get());
      if (near.isPresent()) {
        return near.get();
      }
    }
    if (view.target().isPresent() && !view.targetAgent().map(AgentState::isAway).orElse(false)) {
      return going(view, view.target().get());
    }
    return leftovers.next(view, view.phase()).orElseGet(Next.Undone::new);
  }

  /** Until nothing runs there: empty. */
  private static Optional<Next> farEnd(View view) {
    for (OperationView open : view.work().beyondTheSource()) {
      if (open.isFinal()) {
        continue;
      }
      if (!open.isCancelled()) {
        return Optional.of(new Next.Cancel(open));
      }
      String node = open.operation().getSpec().getNodeName();
      Optional<AgentState> agent =
          open.type() == OperationType.SEND ? view.sourceAgent() : view.targetAgent();
      if (!agent.map(AgentState::isAway).orElse(true)) {
        return Optional.of(waiting(view, "node " + node + " undoes it"));
      }
    }
    if (view.target().isEmpty()) {
      return Optional.empty();
    }
    Pod target = view.target().get();
    if (target.getMetadata().getDeletionTimestamp() == null) {
      return Optional.of(new Next.RemoveTarget(target));
    }
    // What was never restored, or was undone, does not run; all else has to be seen to be gone.
    return mayRun(view) ? Optional.of(going(view, target)) : Optional.empty();
  }

  private static boolean mayRun(View view) {
    return view.work().all().stream()
        .filter(it -> it.type() == OperationType.RESTORE && !Work.isFit(it))
        .anyMatch(it -> it.isClaimed() && (!it.isFinal() || it.succeeded()));
  }

  private static Next going(View view, Pod target) {
    return waiting(view, "pod " + target.getMetadata().getName() + " is being removed");
  }

  /** Until the source runs, or cannot: empty when it runs. */
  private static Optional<Next> source(View view, OperationView freeze) {
    if (freeze.isFinal()) {
      return ended(view, freeze);
    }
    if (view.sourceAgent().map(AgentState::nodeGone).orElse(false)) {
      String node = freeze.operation().getSpec().getNodeName();
      return Optional.of(
          new Next.Lose(Reason.NODE_GONE, "node " + node + " is gone, and the workload with it"));
    }
    if (freeze.phase() != OperationPhase.HELD) {
      return Optional.of(
          freeze.isCancelled() ? silentOr(view, "the freeze is undone") : new Next.Cancel(freeze));
    }
    Optional<String> lost = view.sourceLost();
    return lost.isPresent() ? over(view, freeze, lost.get()) : thaw(view, freeze);
  }

  private static Optional<Next> ended(View view, OperationView freeze) {
    Outcome outcome = freeze.outcome().orElse(Outcome.UNDONE);
    boolean wasEnded =
        view.work().last(OperationType.END).filter(OperationView::succeeded).isPresent();
    if (wasEnded) {
      return Optional.of(
          new Next.Lose(Reason.SOURCE_LOST, view.sourceLost().orElse("the source was ended")));
    }
    return switch (outcome) {
      case DONE, REFUSED, UNDONE -> Optional.empty();
      case LOST -> Optional.of(new Next.Lose(Reason.WORKLOAD_LOST, message(freeze)));
      case NOT_UNDONE -> leftFrozen(view, freeze);
    };
  }

  /** Its agent tries again to thaw it: until it runs, or is not there any more. */
  private static Optional<Next> leftFrozen(View view, OperationView freeze) {
    if (freeze.workload() == WorkloadState.RUNNING) {
      return Optional.empty();
    }
    Optional<String> lost = view.sourceLost();
    if (lost.isPresent()) {
      return Optional.of(new Next.Lose(Reason.SOURCE_LOST, lost.get()));
    }
    if (freeze.workload() == WorkloadState.ENDED) {
      return Optional.of(new Next.Lose(Reason.WORKLOAD_LOST, message(freeze)));
    }
    Instant asked = Objects.requireNonNull(view.status().getCommitment(), "decided").time();
    boolean givenUp =
        view.sourceAgent()
            .map(agent -> agent.isGivenUp(asked, view.orphanAfter(), view.now()))
            .orElse(true);
    if (givenUp || !freeze.isLeftFrozen()) {
      return Optional.of(new Next.Lose(Reason.OPERATION_FAILED, message(freeze)));
    }
    return Optional.of(
        new Next.Wait(
            view.phase(),
            Reason.NOT_THAWED,
            "the source still stands still, and its agent tries again until it runs: "
                + message(freeze)));
  }

  private static Optional<Next> thaw(View view, OperationView freeze) {
    Optional<OperationView> thaw = view.work().last(OperationType.THAW);
    if (thaw.isEmpty()) {
      return Optional.of(new Next.Decided(OperationType.THAW, 1, freeze));
    }
    if (thaw.get().succeeded()) {
      return Optional.empty();
    }
    if (!thaw.get().isFinal()) {
      return Optional.of(silentOr(view, "the source is thawed"));
    }
    if (thaw.get().outcome().filter(it -> it == Outcome.LOST).isPresent()) {
      return Optional.of(new Next.Lose(Reason.WORKLOAD_LOST, message(thaw.get())));
    }
    int number = Work.number(thaw.get());
    boolean stands = thaw.get().outcome().filter(it -> it == Outcome.NOT_UNDONE).isPresent();
    if (number >= THAWS && !stands) {
      return Optional.of(
          new Next.Lose(
              Reason.OPERATION_FAILED, "the source could not be thawed: " + message(thaw.get())));
    }
    boolean due =
        number < THAWS
            ? Leftovers.isDue(thaw.get(), view.now())
            : Leftovers.isDue(thaw.get(), view.now().minus(SELDOM));
    return Optional.of(
        due
            ? new Next.Decided(OperationType.THAW, number + 1, freeze)
            : new Next.Wait(
                view.phase(),
                Reason.NOT_THAWED,
                "the source still stands still and is thawed once more: " + message(thaw.get())));
  }

  /** It cannot go on: what stands there is ended, so that nothing of it ever wakes. */
  private static Optional<Next> over(View view, OperationView freeze, String lost) {
    Optional<OperationView> end = view.work().last(OperationType.END);
    Instant asked = Objects.requireNonNull(view.status().getCommitment(), "decided").time();
    boolean givenUp =
        view.sourceAgent()
            .map(agent -> agent.isGivenUp(asked, view.orphanAfter(), view.now()))
            .orElse(true);
    if (givenUp || end.filter(OperationView::succeeded).isPresent()) {
      return Optional.of(new Next.Lose(Reason.SOURCE_LOST, lost));
    }
    boolean again = end.filter(it -> it.isFinal() && Leftovers.isDue(it, view.now())).isPresent();
    if (end.isEmpty() || again) {
      int number = end.map(Work::number).orElse(0) + 1;
      return number > THAWS
          ? Optional.of(new Next.Lose(Reason.SOURCE_LOST, lost))
          : Optional.of(new Next.Decided(OperationType.END, number, freeze));
    }
    return Optional.of(silentOr(view, "the frozen source is ended"));
  }

  private static Next silentOr(View view, String sentence) {
    return view.sourceAgent()
        .flatMap(AgentState::silent)
        .<Next>map(why -> new Next.Wait(view.phase(), Reason.NODE_SILENT, why))
        .orElseGet(() -> waiting(view, sentence));
  }

  private static Next waiting(View view, String sentence) {
    return new Next.Wait(view.phase(), Reason.IN_PROGRESS, sentence);
  }

  private static String message(OperationView operation) {
    return Objects.requireNonNullElse(operation.status().getMessage(), operation.reason());
  }
}
