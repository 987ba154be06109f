package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An order is given and not carried out yet: says how far it is. */
final class Following {

  /** Steps of the engine during which the workload comes to a stand. */
  private static final Set<String> FREEZING = Set.of("lock", "gpu-checkpoint", "stop");

  /** Steps during which the artifact is written. */
  private static final Set<String> SAVING = Set.of("move", "dump", "layer", "copied");

  /** Steps after which the workload runs again. */
  private static final Set<String> RESUMING = Set.of("fill", "continue", "gpu-restore", "unlock");

  private final Validation validation;

  Following(Validation validation) {
    this.validation = validation;
  }

  /** What is done about an operation whose agent is at work. */
  interface Continuation {
    void next(Turn turn, Frozen frozen, OperationView view);
  }

  void next(Turn turn, Frozen frozen, OperationView view, Continuation then) {
    takeOver(turn, view);
    NodeAgent agent = turn.agent(view.operation().getSpec().getNodeName());
    if (agent.nodeGone()) {
      lost(turn, agent);
      return;
    }
    if (turn.isCancelled() && !view.isCancelled() && view.phase() != OperationPhase.HELD) {
      turn.act(new Act.Cancel(view));
    }
    if (!view.isClaimed()) {
      unclaimed(turn, frozen.number() == 1, view, agent);
      return;
    }
    frozen(turn, view);
    if (agent.isSilent()) {
      String sentence = silence(agent);
      turn.report()
          .also(ConditionType.SOURCE_RUNNING, ConditionValue.UNKNOWN, Reason.NODE_SILENT, sentence);
      silent(turn, view, agent);
      return;
    }
    turn.againAt(agent.silentAt());
    if (view.phase() != OperationPhase.HELD && isTooLarge(turn, view)) {
      turn.act(new Act.Cancel(view));
    } else {
      then.next(turn, frozen, view);
    }
  }

  /** The agent has said how large the artifact will be. */
  private boolean isTooLarge(Turn turn, OperationView view) {
    Explanation explanation = view.status().getExplanation();
    Long bytes = explanation == null ? null : explanation.expectedBytes();
    ArtifactReference artifact = view.operation().getSpec().getArtifact();
    boolean early =
        view.phase() == OperationPhase.CLAIMED || view.phase() == OperationPhase.RUNNING;
    if (!early
        || view.isCancelled()
        || bytes == null
        || artifact == null
        || turn.spec().getOptions().getDryRun()) {
      return false;
    }
    List<Fault> faults =
        turn.cluster()
            .store(artifact.store())
            .map(store -> validation.room(turn, store, view, bytes))
            .orElse(List.of());
    if (!faults.isEmpty()) {
      turn.status().setFaults(faults);
      turn.working(
          Reasons.of(faults.get(0).reason(), Reason.STORE_FULL),
          new FaultSummary(faults).message());
    }
    return !faults.isEmpty();
  }

  /** What the agent says is the status of the object, too. */
  static void takeOver(Turn turn, OperationView view) {
    GpuNodeOperationStatus from = view.status();
    GpuCheckpointStatus to = turn.status();
    to.setOperation(view.isFinal() ? null : view.name());
    to.copyProgress(view.isFinal() ? null : from);
    to.setHardware(newer(from.getHardware(), to.getHardware()));
    to.setDataPath(newer(from.getDataPath(), to.getDataPath()));
    to.setDataPathReason(newer(from.getDataPathReason(), to.getDataPathReason()));
    if (to.getPod() == null) {
      to.setPod(Orders.pod(view));
    }
    if (to.getPodTemplate() == null) {
      to.setPodTemplate(Orders.template(view));
    }
    to.setArgv(newer(from.getArgv(), to.getArgv()));
    RoomTalk.takeOver(to, from);
  }

  private static <T> @Nullable T newer(@Nullable T said, @Nullable T known) {
    return said == null ? known : said;
  }

  /**
   * Waits for the agent to claim the operation.
   *
   * @param first whether the deadline of the object is that of the operation
   */
  static void unclaimed(Turn turn, boolean first, OperationView view, NodeAgent agent) {
    boolean late = first && !turn.now().isBefore(turn.deadline());
    if (late || (turn.isCancelled() && agent.isSilent())) {
      // Taken back only if still unclaimed; then nothing was touched, and the next turn says so.
      turn.act(new Act.Withdraw(view));
      turn.again(turn.config().progressEvery());
      return;
    }
    turn.working(
        agent.isSilent() ? Reason.NODE_SILENT : Reason.WAITING_FOR_AGENT,
        agent.against().orElse("ordered from the agent of node " + agent.node()));
    turn.again(turn.config().lookAgainEvery());
    turn.againAt(turn.deadline());
  }

  /** Says on the pod whether it stands still. */
  private static void frozen(Turn turn, OperationView view) {
    if (view.workload() == WorkloadState.FROZEN) {
      turn.mark(PodConditionUpdate.frozen(Reason.FROZEN.value(), words(turn)));
      turn.report()
          .also(
              ConditionType.SOURCE_RUNNING,
              ConditionValue.UNKNOWN,
              Reason.FROZEN,
              "it stands still while it is worked on");
    } else if (view.workload() == WorkloadState.RUNNING) {
      turn.mark(PodConditionUpdate.notFrozen(Reason.RESUMED.value(), "the workload goes on"));
    }
  }

  static String words(Turn turn) {
    return "frozen by GpuCheckpoint %s for a checkpoint with afterCheckpoint %s"
        .formatted(turn.object().getMetadata().getName(), turn.spec().getAfterCheckpoint());
  }

  private static void lost(Turn turn, NodeAgent agent) {
    String sentence = "node " + agent.node() + " is gone, and the workload with it";
    turn.report()
        .also(ConditionType.SOURCE_RUNNING, ConditionValue.FALSE, Reason.NODE_GONE, sentence);
    turn.fail(Reason.WORKLOAD_LOST, sentence);
  }

  private static String silence(NodeAgent agent) {
    return agent.against().orElse("agent of node " + agent.node() + " is silent");
  }

  /** Waits for an agent that has claimed the operation and is silent. */
  static void silent(Turn turn, OperationView view, NodeAgent agent) {
    String sentence = silence(agent);
    Instant end =
        Objects.requireNonNull(view.status().getClaimedBy(), "it is claimed")
            .time()
            .plus(view.operation().getSpec().getDeadline().duration());
    if (agent.isGivenUp(end, turn.config().orphanAfter(), turn.now())) {
      turn.fail(Reason.NODE_SILENT, sentence);
      return;
    }
    turn.working(Reason.NODE_SILENT, sentence);
    turn.tell(true, Reason.NODE_SILENT, sentence, "silent/" + view.name());
    turn.again(turn.config().lookAgainEvery());
  }

  static void working(Turn turn, Frozen frozen, OperationView view) {
    phase(turn, view);
    boolean undone = view.phase() == OperationPhase.UNDOING || view.isCancelled();
    String sentence = undone ? "is being undone" : "the agent is at work";
    if (view.phase() == OperationPhase.CLAIMED) {
      sentence = Objects.requireNonNullElse(view.status().getMessage(), "waits for its turn");
    }
    turn.working(undone ? Reason.CANCELLED : Reason.IN_PROGRESS, sentence);
    if (view.workload() == WorkloadState.FROZEN) {
      turn.tell(false, Reason.FROZEN, words(turn), view.name());
    }
  }

  private static void phase(Turn turn, OperationView view) {
    if (view.phase() != OperationPhase.RUNNING && view.phase() != OperationPhase.UNDOING) {
      return;
    }
    String step = Objects.requireNonNullElse(view.status().getStep(), "");
    CheckpointPhase now = turn.phase();
    CheckpointPhase meant = now;
    if (RESUMING.contains(step)) {
      meant = CheckpointPhase.RESUMING;
    } else if (SAVING.contains(step)) {
      meant = CheckpointPhase.SAVING;
    } else if (FREEZING.contains(step) || view.workload() == WorkloadState.FROZEN) {
      meant = CheckpointPhase.FREEZING;
    }
    // Never backwards: an undo goes the same steps the other way round.
    boolean onward =
        now == CheckpointPhase.PENDING
            || now == CheckpointPhase.READY
            || meant.ordinal() > now.ordinal()
                && now.ordinal() < CheckpointPhase.RESUMING.ordinal();
    if (onward) {
      turn.enter(meant);
    }
  }
}
