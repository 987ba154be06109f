package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The artifact lies in a store already: an agent checks every byte of it, and only then it is
 * Ready. Until then the object has no artifact, so that one that was refused is never deleted.
 */
final class Importing {

  private final ImportCheck check;
  private final Orders orders;
  private final Places places;
  private final ImportedPod imported;

  Importing(ImportCheck check, Orders orders, Places places, ImportedPod imported) {
    this.check = check;
    this.orders = orders;
    this.places = places;
    this.imported = imported;
  }

  void next(Turn turn) {
    if (turn.status().getPhase() == null) {
      turn.enter(CheckpointPhase.PENDING);
    }
    Optional<OperationView> given = Frozen.operation(turn, OperationType.IMPORT, 1);
    if (given.isEmpty()) {
      begin(turn);
    } else if (given.get().isFinal()) {
      end(turn, given.get());
    } else {
      follow(turn, given.get());
    }
  }

  private void begin(Turn turn) {
    if (turn.isCancelled()) {
      cancelled(turn);
      return;
    }
    ImportSource from = Objects.requireNonNull(turn.spec().getImportFrom(), "it is an import");
    ImportCheck.Result result = check.validate(turn, from);
    boolean late = !turn.now().isBefore(turn.deadline());
    if (result instanceof ImportCheck.Refused refused) {
      turn.fail(List.of(refused.fault()), Reason.NOT_IMPORTED);
    } else if (late) {
      String found =
          result instanceof ImportCheck.Wait wait ? wait.why().sentence() : "that it was";
      turn.fail(
          Reason.DEADLINE_EXCEEDED,
          "deadline: expected it begun within %s, got it waiting: %s"
              .formatted(turn.spec().getOptions().getDeadline(), found));
    } else if (result instanceof ImportCheck.Wait wait) {
      turn.working(wait.why().reason(), wait.why().sentence());
      turn.again(turn.config().lookAgainEvery());
      turn.againAt(turn.deadline());
    } else if (result instanceof ImportCheck.Admitted admitted) {
      GpuNodeOperation order = orders.importing(turn, from, admitted.store(), admitted.node());
      turn.status().setOperation(order.getMetadata().getName());
      turn.act(new Act.Create(order));
      turn.working(Reason.WAITING_FOR_AGENT, "ordered from the agent of node " + admitted.node());
      turn.again(turn.config().lookAgainEvery());
    }
  }

  private void follow(Turn turn, OperationView view) {
    Following.takeOver(turn, view);
    NodeAgent agent = turn.agent(view.operation().getSpec().getNodeName());
    if (agent.nodeGone()) {
      turn.fail(Reason.NODE_GONE, "node " + agent.node() + " is gone");
      return;
    }
    if (turn.isCancelled() && !view.isCancelled()) {
      turn.act(new Act.Cancel(view));
    }
    if (!view.isClaimed()) {
      Following.unclaimed(turn, true, view, agent);
    } else if (agent.isSilent()) {
      Following.silent(turn, view, agent);
    } else {
      turn.againAt(agent.silentAt());
      working(turn, view);
    }
  }

  private void working(Turn turn, OperationView view) {
    if (view.phase() == OperationPhase.RUNNING) {
      turn.enter(CheckpointPhase.IMPORTING);
    }
    Explanation said = view.status().getExplanation();
    Long bytes = said == null ? null : said.expectedBytes();
    List<Fault> faults =
        bytes == null || view.isCancelled() ? List.of() : check.quota(turn, view, bytes);
    if (!faults.isEmpty()) {
      turn.status().setFaults(faults);
      turn.act(new Act.Cancel(view));
    }
    turn.working(
        view.isCancelled() ? Reason.CANCELLED : Reason.IN_PROGRESS,
        view.isCancelled() ? "is being given up" : "every byte of the artifact is checked");
  }

  private void end(Turn turn, OperationView view) {
    Following.takeOver(turn, view);
    Optional<ArtifactStatus> artifact = view.artifact();
    if (view.succeeded() && artifact.isPresent()) {
      checked(turn, view, artifact.get());
    } else if (view.phase() == OperationPhase.CANCELLED && turn.isCancelled()) {
      cancelled(turn);
    } else {
      failed(turn, view);
    }
    turn.again(turn.config().progressEvery());
  }

  /** Every byte is right; whether it may be had is asked once more, now that it is known. */
  private void checked(Turn turn, OperationView view, ArtifactStatus artifact) {
    Optional<Fault> taken = check.foreign(turn, artifact).or(() -> check.taken(turn, artifact));
    long bytes = Objects.requireNonNullElse(artifact.getBytes(), 0L);
    List<Fault> faults = taken.isPresent() ? List.of(taken.get()) : check.quota(turn, view, bytes);
    if (faults.isEmpty()) {
      faults = imported.faults(view.status().getPodTemplate(), turn.spec().podName());
    }
    if (!faults.isEmpty()) {
      turn.fail(faults, Reason.NOT_IMPORTED);
      return;
    }
    GpuNodeOperationStatus said = view.status();
    GpuCheckpointStatus status = turn.status();
    status.setFaults(null);
    status.setArtifact(artifact);
    status.setPod(
        new ObservedPod(turn.spec().podName(), null, said.getContainerName(), artifact.getNode()));
    status.setPodTemplate(said.getPodTemplate());
    List<String> others = said.getOtherContainers();
    status.setOtherContainers(others == null || others.isEmpty() ? null : others);
    turn.enter(CheckpointPhase.IMPORTING);
    turn.enter(CheckpointPhase.READY);
    places.write(turn);
    String sentence = Ending.artifact(turn) + ", imported from " + artifact.getLocation();
    turn.report().done(Reason.ARTIFACT_VERIFIED, sentence);
    turn.tell(false, Reason.ARTIFACT_VERIFIED, sentence, "ready");
  }

  private static void cancelled(Turn turn) {
    turn.enter(CheckpointPhase.CANCELLED);
    String sentence = "cancelled; the artifact stays as it is";
    turn.report().cancelled(Reason.CANCELLED, sentence);
    turn.tell(false, Reason.CANCELLED, sentence, "cancelled");
  }

  /** Those for which it was given up here, then the agent's. */
  private static void failed(Turn turn, OperationView view) {
    List<Fault> ours = Objects.requireNonNullElse(turn.status().getFaults(), List.of());
    List<Fault> all = Stream.concat(ours.stream(), view.faults().stream()).distinct().toList();
    if (all.isEmpty()) {
      turn.fail(
          Reason.OPERATION_FAILED,
          Objects.requireNonNullElse(
              view.status().getMessage(), "the operation " + view.name() + " ended"));
    } else {
      turn.fail(all, Reason.NOT_IMPORTED);
    }
  }
}
