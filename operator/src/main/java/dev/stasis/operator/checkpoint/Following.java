package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Explanation;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.Mark;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
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
  private static final Set<String> SAVING = Set.of("move", "dump", "layer");

  /** Steps after which the workload runs again. */
  private static final Set<String> RESUMING = Set.of("fill", "continue", "gpu-restore", "unlock");

  private final RoomTalk room;
  private final Holding holding;
  private final Validation validation;

  Following(RoomTalk room, Holding holding, Validation validation) {
    this.room = room;
    this.holding = holding;
    this.validation = validation;
  }

  void next(Turn turn, Frozen frozen, OperationView view) {
    takeOver(turn, view);
    Agent agent = new Agent(turn, view.operation().getSpec().getNodeName());
    if (agent.isNodeGone()) {
      lost(turn, agent);
      return;
    }
    if (turn.isCancelled() && !view.isCancelled() && view.phase() != OperationPhase.HELD) {
      turn.act(new Act.Cancel(view));
    }
    if (!view.isClaimed()) {
      unclaimed(turn, frozen, view, agent);
      return;
    }
    frozen(turn, view);
    if (agent.isSilent()) {
      silent(turn, view, agent);
      return;
    }
    turn.againAt(agent.silentAt());
    if (view.phase() == OperationPhase.HELD) {
      holding.next(turn, frozen, view);
    } else if (isTooLarge(turn, view)) {
      turn.act(new Act.Cancel(view));
    } else if (room.isAsked(view)) {
      room.next(turn, view);
    } else {
      working(turn, view);
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
        || turn.spec().getExplainOnly()) {
      return false;
    }
    List<Fault> faults =
        turn.cluster()
            .store(artifact.store())
            .map(store -> validation.room(turn, store, view, bytes))
            .orElse(List.of());
    if (!faults.isEmpty()) {
      turn.status().setFaults(faults);
      turn.working(Reasons.of(faults.get(0).reason(), Reason.STORE_FULL), Turn.sentences(faults));
    }
    return !faults.isEmpty();
  }

  /** What the agent says is the status of the object, too. */
  static void takeOver(Turn turn, OperationView view) {
    GpuNodeOperationStatus from = view.status();
    GpuCheckpointStatus to = turn.status();
    to.setOperation(view.isFinal() ? null : view.name());
    to.setStep(view.isFinal() ? null : from.getStep());
    to.setDoneBytes(view.isFinal() ? null : from.getDoneBytes());
    to.setTotalBytes(view.isFinal() ? null : from.getTotalBytes());
    to.setProgress(view.isFinal() ? null : from.getProgress());
    to.setBytesPerSecond(view.isFinal() ? null : from.getBytesPerSecond());
    to.setRate(view.isFinal() ? null : from.getRate());
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

  private static void unclaimed(Turn turn, Frozen frozen, OperationView view, Agent agent) {
    boolean late = frozen.number() == 1 && !turn.now().isBefore(turn.deadline());
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
      turn.mark(Mark.frozen(Reason.FROZEN.word(), words(turn)));
      turn.report()
          .also(
              ConditionType.SOURCE_RUNNING,
              Truth.UNKNOWN,
              Reason.FROZEN,
              "it stands still while it is worked on");
    } else if (view.workload() == WorkloadState.RUNNING) {
      turn.mark(Mark.notFrozen(Reason.RESUMED.word(), "the workload goes on"));
    }
  }

  static String words(Turn turn) {
    return "frozen by GpuCheckpoint %s for a checkpoint with afterCheckpoint %s"
        .formatted(turn.object().getMetadata().getName(), turn.spec().getAfterCheckpoint());
  }

  private static void lost(Turn turn, Agent agent) {
    String sentence = "node " + agent.node() + " is gone, and the workload with it";
    turn.report().also(ConditionType.SOURCE_RUNNING, Truth.FALSE, Reason.NODE_GONE, sentence);
    turn.fail(Reason.WORKLOAD_LOST, sentence);
  }

  private static void silent(Turn turn, OperationView view, Agent agent) {
    String sentence = agent.against().orElse("agent of node " + agent.node() + " is silent");
    turn.report().also(ConditionType.SOURCE_RUNNING, Truth.UNKNOWN, Reason.NODE_SILENT, sentence);
    Instant end =
        Objects.requireNonNull(view.status().getClaimedBy(), "it is claimed")
            .time()
            .plus(view.operation().getSpec().getDeadline().duration());
    if (agent.isGivenUp(end)) {
      turn.fail(Reason.NODE_SILENT, sentence);
      return;
    }
    turn.working(Reason.NODE_SILENT, sentence);
    turn.tell(true, Reason.NODE_SILENT, sentence, "silent/" + view.name());
    turn.again(turn.config().lookAgainEvery());
  }

  private static void working(Turn turn, OperationView view) {
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
