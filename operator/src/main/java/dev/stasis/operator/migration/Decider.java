package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.Explanation;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.migration.Decision;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Decides what follows from what is seen: on the way there; the ends are decided elsewhere. */
final class Decider {

  /** As often a target is made before the source is touched. */
  static final int ATTEMPTS = 3;

  /** The next target may be luckier. */
  private static final Set<String> OF_THE_MOMENT =
      Set.of(Reason.TARGET_LOST.word(), Reason.IMAGE_NOT_AVAILABLE.word());

  /** Found by the agent of the target: of its node, so another one may be better. */
  private static final Set<String> OF_THE_NODE =
      Set.of(Reason.INCOMPATIBLE.word(), Reason.NO_GPU.word(), "GpuQuarantined");

  private final TargetReader reader = new TargetReader();
  private final Ahead ahead = new Ahead();
  private final AfterFreeze afterFreeze = new AfterFreeze(reader);
  private final SwitchingOver switchingOver = new SwitchingOver();
  private final RollingBack rollingBack = new RollingBack();

  Next next(View view) {
    if (view.phase().isFinal()) {
      return new Next.Rest();
    }
    Optional<Decision> decision = view.decision();
    if (decision.isPresent()) {
      return decision.get() == Decision.SWITCH_OVER
          ? switchingOver.next(view)
          : rollingBack.next(view);
    }
    Optional<Fault> stop = stop(view);
    if (stop.isPresent()) {
      return new Next.RollBack(List.of(stop.get()));
    }
    Optional<OperationView> freeze = view.work().freeze();
    return freeze.isPresent() ? afterFreeze.next(view, freeze.get()) : untouched(view);
  }

  /** What ends it from outside. What was frozen and cannot be thawed any more goes on. */
  private static Optional<Fault> stop(View view) {
    if (view.isHeld() && view.sourceLost().isPresent()) {
      return Optional.empty();
    }
    if (view.isCancelled()) {
      return Optional.of(
          new Fault(Reason.CANCELLED.word(), null, null, null, null, null, "it was cancelled"));
    }
    if (!view.deadline().isAfter(view.now())) {
      return Optional.of(
          fault(
              Reason.DEADLINE_EXCEEDED,
              "deadline",
              "the proof within " + view.migration().getSpec().getDeadline().text(),
              "it " + waitingFor(view)));
    }
    return view.frozenUntil()
        .filter(until -> !until.isAfter(view.now()))
        .map(
            until ->
                fault(
                    Reason.LIVENESS_PROBE_TOO_SHORT,
                    "time for which the workload stands still",
                    "at most until " + until + ", before a probe or a deadline of its pod ends it",
                    "no proof of the target by then"));
  }

  private static String waitingFor(View view) {
    String said = view.status().getMessage();
    return "in phase " + view.phase().word() + (said == null ? "" : ": " + said);
  }

  /** Nothing is frozen yet. */
  private Next untouched(View view) {
    if (view.check() instanceof Check.Refused refused) {
      return new Next.RollBack(refused.faults());
    }
    if (view.check() instanceof Check.Wait wait) {
      return new Next.Wait(view.phase(), wait.reason(), wait.sentence());
    }
    Check.Admitted source = (Check.Admitted) view.check();
    Optional<OperationView> look = view.work().look();
    if (look.isEmpty()) {
      return new Next.Look(source);
    }
    if (!look.get().isFinal()) {
      String node = source.pod().getSpec().getNodeName();
      return new Next.Wait(
          MigrationPhase.PENDING,
          Reason.WAITING_FOR_AGENT,
          view.sourceAgent()
              .flatMap(AgentState::silent)
              .orElse("the agent of node " + node + " looks at the pod"));
    }
    List<Fault> against = against(look.get());
    if (!against.isEmpty()) {
      return new Next.RollBack(against);
    }
    return target(view, source, look.get());
  }

  /** Everything that the agent found against a freeze. */
  private static List<Fault> against(OperationView look) {
    List<Fault> faults = new ArrayList<>(look.faults());
    Optional.ofNullable(look.status().getExplanation())
        .map(Explanation::faults)
        .ifPresent(faults::addAll);
    if (faults.isEmpty() && !look.succeeded()) {
      faults.add(ended(look));
    }
    return faults.stream().distinct().toList();
  }

  private Next target(View view, Check.Admitted source, OperationView look) {
    ObservedPod known = view.status().getTarget();
    if (view.target().isEmpty()) {
      return known == null
          ? make(view, source, look)
          : again(view, Optional.empty(), lost(known.name()));
    }
    Pod target = view.target().get();
    if (known == null || !target.getMetadata().getUid().equals(known.uid())) {
      return new Next.Adopt(target);
    }
    TargetState state = reader.read(target, source.container());
    if (state instanceof TargetState.Broken broken) {
      return again(view, Optional.of(target), broken.fault());
    }
    if (state instanceof TargetState.Coming coming) {
      return new Next.Wait(MigrationPhase.TARGET_STARTING, coming.reason(), coming.sentence());
    }
    Optional<String> away =
        view.targetAgent().isEmpty()
            ? Optional.of("agent: wanted one on the node of the target, found none")
            : view.targetAgent().get().against();
    return away.isPresent()
        ? new Next.Wait(MigrationPhase.TARGET_STARTING, Reason.WAITING_FOR_AGENT, away.get())
        : fits(view, source, target);
  }

  /** A label cannot promise which GPUs of a node a pod gets: so they are looked at. */
  private Next fits(View view, Check.Admitted source, Pod target) {
    Optional<OperationView> fit = view.fit();
    if (fit.isEmpty()) {
      return new Next.Fit(target);
    }
    if (!fit.get().isFinal()) {
      return new Next.Wait(
          MigrationPhase.TARGET_STARTING,
          Reason.WAITING_FOR_AGENT,
          "the agent of node "
              + target.getSpec().getNodeName()
              + " compares the GPUs of the target with those of the source");
    }
    if (fit.get().succeeded()) {
      return ahead.next(view, source, target).orElseGet(() -> new Next.Freeze(source, target));
    }
    List<Fault> faults =
        fit.get().faults().isEmpty() ? List.of(ended(fit.get())) : fit.get().faults();
    boolean elsewhere =
        view.attempts() < ATTEMPTS
            && faults.stream().allMatch(fault -> OF_THE_NODE.contains(fault.reason()));
    return elsewhere
        ? new Next.Another(Optional.of(target), faults, true)
        : new Next.RollBack(faults);
  }

  private static Next make(View view, Check.Admitted source, OperationView look) {
    if (view.turn().isPresent()) {
      return new Next.Wait(MigrationPhase.PENDING, Reason.TOO_MANY_MIGRATIONS, view.turn().get());
    }
    if (view.places().isEmpty()) {
      return new Next.RollBack(
          List.of(
              fault(
                  Reason.PREFLIGHT_REFUSED,
                  "hardware of the pod",
                  "what its agent found",
                  "nothing said of it")));
    }
    NodeVerdicts places = view.places().get();
    if (places.fit() == 0) {
      return new Next.Wait(
          MigrationPhase.PENDING,
          Reason.NO_NODE_FITS,
          new NoNode(places, view.migration().getSpec().getTarget()).sentence());
    }
    return view.migration().getSpec().getOrder() == MigrationOrder.SOURCE_FIRST
        ? new Next.Save(source)
        : new Next.Make(source, look);
  }

  /** The source was not touched, so another target costs nothing. */
  private static Next again(View view, Optional<Pod> target, Fault fault) {
    boolean tries = view.attempts() < ATTEMPTS && OF_THE_MOMENT.contains(fault.reason());
    return tries
        ? new Next.Another(
            target, List.of(fault), fault.reason().equals(Reason.IMAGE_NOT_AVAILABLE.word()))
        : new Next.RollBack(List.of(fault));
  }

  static Fault lost(String target) {
    return fault(Reason.TARGET_LOST, "pod " + target, "that it stays until the proof", "none");
  }

  /** An operation that gave no reason. */
  static Fault ended(OperationView operation) {
    return fault(
        Reason.OPERATION_FAILED,
        "operation " + operation.name(),
        "that it does its work",
        operation.phase().word()
            + " "
            + operation.reason()
            + " "
            + Objects.requireNonNullElse(operation.status().getMessage(), ""));
  }

  static Fault fault(Reason reason, String property, String wanted, String found) {
    return Fault.misfit(reason.word(), property, wanted, found.strip());
  }
}
