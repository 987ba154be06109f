package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.resize.RoomAnswer;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** The freeze is ordered: from there to the proof of the target. */
final class AfterFreeze {

  /**
   * As often the artifact is sent: an agent that is started anew has another key, and the stream is
   * then ordered anew.
   */
  static final int TRANSFERS = 5;

  /** The step in which the agent looks whether the workload runs. */
  private static final String PROVING = "prove";

  private final TargetReader reader;
  private final RoomAnswer room = new RoomAnswer();

  AfterFreeze(TargetReader reader) {
    this.reader = reader;
  }

  Next next(View view, OperationView freeze) {
    if (freeze.isFinal() && !view.isHeld()) {
      return new Next.RollBack(why(freeze));
    }
    if (view.target().isEmpty()) {
      String name =
          view.status().getTarget() == null ? "of the target" : view.status().getTarget().name();
      return new Next.RollBack(List.of(Decider.lost(name)));
    }
    Pod target = view.target().get();
    Optional<OperationView> restore = view.restore();
    if (restore.isPresent() && view.isHeld()) {
      return restored(view, target, restore.get());
    }
    TargetState state = reader.read(target, container(freeze));
    if (state instanceof TargetState.Broken broken) {
      return new Next.RollBack(List.of(broken.fault()));
    }
    if (!view.isHeld()) {
      return room.isAsked(freeze) && !freeze.isCancelled()
          ? new Next.Room(freeze)
          : freezing(view, freeze);
    }
    Optional<ArtifactStatus> arrived = view.arrived();
    return arrived.isPresent() ? new Next.Restore(arrived.get(), target) : transfer(view, target);
  }

  private static Next freezing(View view, OperationView freeze) {
    String node = freeze.operation().getSpec().getNodeName();
    // It never answers again, and what it had of the artifact is gone with it.
    if (view.sourceAgent().map(AgentState::nodeGone).orElse(false)) {
      return new Next.RollBack(
          List.of(
              Decider.fault(
                  Reason.SOURCE_LOST,
                  "node of the source",
                  "one of the cluster until the artifact is whole",
                  "node " + node + " is none any more")));
    }
    Optional<String> silent = view.sourceAgent().flatMap(AgentState::silent);
    if (silent.isPresent()) {
      return new Next.Wait(MigrationPhase.FREEZING, Reason.NODE_SILENT, silent.get());
    }
    return freeze.isClaimed()
        ? new Next.Wait(
            MigrationPhase.FREEZING, Reason.IN_PROGRESS, "node " + node + " freezes the pod")
        : new Next.Wait(
            MigrationPhase.FREEZING,
            Reason.WAITING_FOR_AGENT,
            "the agent of node " + node + " is asked to freeze the pod");
  }

  /** From agent to agent. */
  private static Next transfer(View view, Pod target) {
    Optional<ArtifactStatus> artifact = view.artifact();
    if (artifact.isEmpty() || view.sourceAgent().map(AgentState::nodeGone).orElse(true)) {
      return new Next.RollBack(
          List.of(
              Decider.fault(
                  Reason.SOURCE_LOST,
                  "artifact",
                  "one on the node of the source",
                  "none, or no such node")));
    }
    AgentState from = view.sourceAgent().orElseThrow();
    String to = target.getSpec().getNodeName();
    Optional<OperationView> receive = view.work().last(OperationType.RECEIVE);
    if (receive.isEmpty()) {
      return new Next.Receive(1, artifact, from, to);
    }
    int number = Work.number(receive.get());
    Optional<OperationView> send = view.work().of(OperationType.SEND, number);
    if (receive.get().isFinal() // and not what was to arrive, else nobody would ask
        || send.filter(AfterFreeze::failed).isPresent()
        || new Keys(view).changed(receive.get(), send)) {
      return sendAgain(view, receive.get(), send, artifact, to);
    }
    String listening = receive.get().status().getListening();
    if (send.isEmpty() && listening != null && view.targetAgent().isPresent()) {
      return new Next.Send(number, artifact, listening, view.targetAgent().get());
    }
    return new Next.Wait(
        MigrationPhase.TRANSFERRING,
        Reason.IN_PROGRESS,
        send.isPresent()
            ? "node %s sends it to node %s".formatted(from.node(), to)
            : "the agent of node " + to + " is asked to receive it");
  }

  private static Next sendAgain(
      View view,
      OperationView receive,
      Optional<OperationView> send,
      Optional<ArtifactStatus> artifact,
      String to) {
    for (OperationView open :
        send.map(it -> List.of(it, receive)).orElse(List.of(receive)).stream()
            .filter(it -> !it.isFinal())
            .toList()) {
      if (!open.isCancelled()) {
        return new Next.Cancel(open);
      }
      return new Next.Wait(
          MigrationPhase.TRANSFERRING,
          Reason.TRANSFER_FAILED,
          "node " + open.operation().getSpec().getNodeName() + " ends a transfer that broke");
    }
    int number = Work.number(receive);
    // Whoever failed says why; the other end was only told to stop.
    OperationView failed =
        Stream.concat(send.stream(), Stream.of(receive))
            .filter(it -> !it.isCancelled() && !it.faults().isEmpty())
            .findFirst()
            .orElse(receive);
    return number < TRANSFERS
        ? new Next.Receive(number + 1, artifact, view.sourceAgent().orElseThrow(), to)
        : new Next.RollBack(why(failed));
  }

  private static boolean failed(OperationView operation) {
    return operation.isFinal() && !operation.succeeded();
  }

  private Next restored(View view, Pod target, OperationView restore) {
    if (restore.isFinal()) {
      if (!restore.succeeded() || restore.status().getProof() == null) {
        return new Next.RollBack(why(restore));
      }
      return target.getMetadata().getDeletionTimestamp() == null
          ? new Next.SwitchOver(target, restore)
          : new Next.RollBack(List.of(Decider.lost(target.getMetadata().getName())));
    }
    String node = restore.operation().getSpec().getNodeName();
    Optional<String> silent = view.targetAgent().flatMap(AgentState::silent);
    TargetState state = reader.read(target, container(restore));
    if (state instanceof TargetState.Broken broken
        && !(restore.isClaimed()
            && silent.isEmpty()
            && broken.fault().reason().equals(Reason.RESTORE_FAILED.word()))) {
      return new Next.RollBack(List.of(broken.fault()));
    }
    boolean proving =
        PROVING.equals(restore.status().getStep()) || view.phase() == MigrationPhase.VERIFYING;
    MigrationPhase phase = proving ? MigrationPhase.VERIFYING : MigrationPhase.RESTORING;
    if (silent.isPresent()) {
      return new Next.Wait(phase, Reason.NODE_SILENT, silent.get());
    }
    return new Next.Wait(
        phase,
        restore.isClaimed() ? Reason.IN_PROGRESS : Reason.WAITING_FOR_AGENT,
        "node " + node + " restores it");
  }

  private static List<Fault> why(OperationView operation) {
    return operation.faults().isEmpty() ? List.of(Decider.ended(operation)) : operation.faults();
  }

  private static String container(OperationView operation) {
    return Objects.requireNonNull(operation.operation().getSpec().getPod(), "it has a pod")
        .containerName();
  }
}
