package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.NodeVerdict;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** Decides what follows from what is seen. */
final class Decider {

  /** The agent ends its work by its own deadline, and then has to undo it. */
  static final Duration TO_UNDO = Duration.ofSeconds(30);

  /** The step in which the agent looks whether the workload runs. */
  private static final String PROVING = "prove";

  /** Of the reasons against a node so many are told in a sentence; the status lists all. */
  private static final int NODES_TOLD = 3;

  private final TargetReader reader = new TargetReader();

  Next next(View view) {
    if (view.phase().isFinal()) {
      return new Next.Rest();
    }
    if (view.isCancelled() || !view.faults().isEmpty()) {
      return undo(view);
    }
    Optional<Pod> target = view.target();
    ObservedPod known = view.status().getPod();
    if (target.isEmpty()) {
      return known == null ? begin(view) : new Next.Fail(List.of(lost(known)));
    }
    if (known == null || !target.get().getMetadata().getUid().equals(known.uid())) {
      return new Next.Adopt(target.get());
    }
    if (!(view.source() instanceof Source.Ready source)) {
      // In use, it is not deleted; one that was lost all the same says so here.
      return view.operation().isPresent()
          ? follow(view, target.get(), view.operation().get())
          : new Next.Fail(List.of(noSource(view.source())));
    }
    if (view.operation().isPresent()) {
      return follow(view, target.get(), view.operation().get());
    }
    return bringUp(view, source, target.get());
  }

  private static Next begin(View view) {
    if (view.source() instanceof Source.NotYet notYet) {
      return new Next.Wait(RestorePhase.PENDING, notYet.reason(), notYet.sentence());
    }
    if (view.source() instanceof Source.Never never) {
      return new Next.Fail(List.of(never.fault()));
    }
    NodeVerdicts places = view.places().orElseThrow();
    if (places.fit() == 0) {
      return new Next.Wait(RestorePhase.PENDING, Reason.NO_NODE_FITS, noNode(view, places));
    }
    return new Next.Make((Source.Ready) view.source());
  }

  private Next bringUp(View view, Source.Ready source, Pod target) {
    TargetState state = reader.read(target, source.container());
    if (state instanceof TargetState.Broken broken) {
      return new Next.Fail(List.of(broken.fault()));
    }
    if (state instanceof TargetState.Coming coming) {
      return new Next.Wait(RestorePhase.STARTING, coming.reason(), coming.sentence());
    }
    TargetState.Holding holding = (TargetState.Holding) state;
    if (!deadline(view, holding.since()).isAfter(view.now())) {
      return new Next.Fail(List.of(late(view)));
    }
    return new Next.Order(source, target, holding.since());
  }

  private Next follow(View view, Pod target, OperationView operation) {
    if (operation.isFinal()) {
      return end(target, operation);
    }
    String container =
        Objects.requireNonNull(operation.operation().getSpec().getPod()).containerName();
    TargetState state = reader.read(target, container);
    if (state instanceof TargetState.Broken broken && !agentWillSayWhy(view, operation, broken)) {
      return new Next.Fail(List.of(broken.fault()));
    }
    if (state instanceof TargetState.Holding holding
        && !deadline(view, holding.since()).plus(TO_UNDO).isAfter(view.now())) {
      return new Next.Fail(List.of(late(view)));
    }
    String node = operation.operation().getSpec().getNodeName();
    if (!operation.isClaimed()) {
      return new Next.Wait(
          RestorePhase.RESTORING,
          Reason.WAITING_FOR_AGENT,
          "the agent of node "
              + node
              + " has not taken it"
              + view.agentAway().map(why -> ": " + why).orElse(""));
    }
    boolean proving = PROVING.equals(operation.status().getStep());
    boolean verifies = proving || view.phase() == RestorePhase.VERIFYING;
    return new Next.Wait(
        verifies ? RestorePhase.VERIFYING : RestorePhase.RESTORING,
        Reason.IN_PROGRESS,
        "node " + node + " restores it");
  }

  /** A holder that ended while the agent worked on it: the agent knows more about it. */
  private static boolean agentWillSayWhy(
      View view, OperationView operation, TargetState.Broken broken) {
    return broken.fault().reason().equals(Reason.RESTORE_FAILED.word())
        && operation.isClaimed()
        && view.agentAway().isEmpty();
  }

  private static Next end(Pod target, OperationView operation) {
    if (operation.succeeded() && operation.status().getProof() != null) {
      return target.getMetadata().getDeletionTimestamp() == null
          ? new Next.Prove(target, operation)
          : new Next.Fail(
              List.of(
                  fault(
                      Reason.TARGET_LOST,
                      "pod " + target.getMetadata().getName(),
                      "that it stays",
                      "that it is being deleted")));
    }
    if (operation.succeeded()) {
      return new Next.Fail(
          List.of(
              fault(
                  Reason.RESTORE_FAILED,
                  "operation " + operation.name() + " proof",
                  "every process with its state",
                  "none")));
    }
    if (!operation.faults().isEmpty()) {
      return new Next.Fail(operation.faults());
    }
    return new Next.Fail(
        List.of(
            fault(
                Reason.RESTORE_FAILED,
                "operation " + operation.name(),
                "Succeeded",
                operation.phase().word() + " " + operation.reason())));
  }

  /** Orders are taken back before the target goes, so that the agent can tidy up. */
  private static Next undo(View view) {
    Optional<OperationView> working = view.operation().filter(it -> !it.isFinal());
    boolean away = view.agentAway().isPresent();
    if (working.isPresent() && !working.get().isCancelled()) {
      return new Next.Cancel(working.get());
    }
    if (working.isPresent() && !away) {
      return new Next.Wait(
          view.phase(),
          Reason.IN_PROGRESS,
          "node " + working.get().operation().getSpec().getNodeName() + " undoes it");
    }
    if (view.target().isPresent()) {
      Pod target = view.target().get();
      return target.getMetadata().getDeletionTimestamp() == null
          ? new Next.Remove(target)
          : new Next.Wait(
              view.phase(),
              Reason.IN_PROGRESS,
              "pod " + target.getMetadata().getName() + " is being removed");
    }
    if (working.isPresent()) {
      return new Next.Abandon(working.get());
    }
    if (view.isCancelled()) {
      return new Next.Cancelled();
    }
    Verdict verdict = new Verdict(view.faults());
    if (verdict.triesAgain(view.attempts())) {
      return new Next.Again(verdict);
    }
    return switch (view.restore().getSpec().getColdStartFallback()) {
      case ALLOW -> new Next.ColdStart(verdict);
      case NEVER -> new Next.Give(verdict);
    };
  }

  private static String noNode(View view, NodeVerdicts places) {
    String asked =
        view.restore().getSpec().getTarget() == null
            ? null
            : view.restore().getSpec().getTarget().nodeName();
    if (asked != null && places.all().stream().noneMatch(it -> it.node().equals(asked))) {
      return "target.nodeName: wanted a node with GPUs and an agent, found none named " + asked;
    }
    if (places.known() == 0) {
      return "node: wanted one with GPUs and an agent, found none";
    }
    String reasons =
        places.all().stream()
            .filter(it -> asked == null || it.node().equals(asked))
            .limit(NODES_TOLD)
            .map(Decider::against)
            .collect(Collectors.joining("; "));
    return places.sentence() + ": " + reasons;
  }

  private static String against(NodeVerdict verdict) {
    return verdict.node()
        + ": "
        + String.join(", ", Objects.requireNonNullElse(verdict.reasons(), List.of()));
  }

  private static Instant deadline(View view, Instant holding) {
    return holding.plus(view.restore().getSpec().getDeadline().duration());
  }

  private static Fault late(View view) {
    String deadline = view.restore().getSpec().getDeadline().text();
    return fault(
        Reason.DEADLINE_EXCEEDED, "deadline", "the proof within " + deadline, "none in that time");
  }

  private static Fault lost(ObservedPod pod) {
    return fault(Reason.TARGET_LOST, "pod " + pod.name(), "that it stays until the proof", "none");
  }

  private static Fault noSource(Source source) {
    return source instanceof Source.NotYet notYet
        ? new Fault(
            Reason.ARTIFACT_LOST.word(),
            "checkpointName",
            null,
            null,
            null,
            null,
            notYet.sentence())
        : ((Source.Never) source).fault();
  }

  static Fault fault(Reason reason, String property, String wanted, String found) {
    String sentence = property + ": wanted " + wanted + ", found " + found;
    return new Fault(reason.word(), property, wanted, found, null, null, sentence);
  }
}
