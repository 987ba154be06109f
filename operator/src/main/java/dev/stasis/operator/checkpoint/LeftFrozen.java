package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * An order has failed and its workload still stands still. Its agent tries to thaw it until it
 * runs; until then the order is kept, since there the agent says it, and object and pod say what is
 * so.
 */
final class LeftFrozen {

  /** It was not known then what becomes of the workload. */
  private static final Set<String> OPEN =
      Set.of(Reason.NOT_THAWED.value(), Reason.NODE_SILENT.value());

  private final Onward onward;

  LeftFrozen(Onward onward) {
    this.onward = onward;
  }

  /** It stands still. */
  void say(Turn turn, OperationView view) {
    String sentence = sentence(view);
    boolean known = view.workload() == WorkloadState.FROZEN;
    turn.report()
        .also(
            ConditionType.SOURCE_RUNNING,
            known ? ConditionValue.FALSE : ConditionValue.UNKNOWN,
            Reason.NOT_THAWED,
            sentence);
    turn.mark(
        PodConditionUpdate.frozen(
            Reason.NOT_THAWED.value(),
            "frozen by GpuCheckpoint %s: %s"
                .formatted(turn.object().getMetadata().getName(), sentence)));
    turn.tell(true, Reason.NOT_THAWED, sentence, occasion(view, "stands"));
    turn.again(turn.config().lookAgainEvery());
  }

  /**
   * What has become of it since the object failed.
   *
   * @return whether the order may be forgotten
   */
  boolean isOver(Turn turn, OperationView view) {
    if (view.isLeftFrozen()) {
      return !isWaitedFor(turn, view, turn.created());
    }
    boolean open =
        new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()))
            .find(ConditionType.SOURCE_RUNNING)
            .filter(condition -> OPEN.contains(condition.reason()))
            .isPresent();
    if (open) {
      changed(turn, view);
    }
    return true;
  }

  /** Whether its agent can still wake it; what is left of it otherwise is said. */
  boolean isWaitedFor(Turn turn, OperationView view, Instant since) {
    NodeAgent agent = turn.agent(view.operation().getSpec().getNodeName());
    if (turn.pod().isEmpty()) {
      lost(turn, view, "the pod was deleted while its workload stood still");
      return false;
    }
    if (agent.nodeGone()) {
      lost(turn, view, "node " + agent.node() + " is gone, and the frozen workload with it");
      return false;
    }
    say(turn, view);
    if (agent.isGivenUp(since, turn.config().orphanAfter(), turn.now()) && turn.isDeleted()) {
      turn.tell(
          true,
          Reason.RELEASED,
          "the frozen workload is released: " + agent.against().orElse("its agent is silent"),
          occasion(view, "released"));
      return false;
    }
    return true;
  }

  private void changed(Turn turn, OperationView view) {
    if (view.workload() == WorkloadState.ENDED) {
      lost(
          turn,
          view,
          Objects.requireNonNullElse(view.status().getMessage(), "it has ended while frozen"));
    } else if (view.workload() == WorkloadState.RUNNING) {
      woken(turn, view);
    }
  }

  private void woken(Turn turn, OperationView view) {
    Instant since = view.status().getWorkloadTime();
    String sentence =
        "the workload goes on" + (since == null ? "" : " since " + since) + ": thawed by its agent";
    turn.report().also(ConditionType.SOURCE_RUNNING, ConditionValue.TRUE, Reason.THAWED, sentence);
    turn.mark(PodConditionUpdate.notFrozen(Reason.THAWED.value(), sentence));
    turn.tell(false, Reason.THAWED, sentence, occasion(view, "woken"));
    onward.next(turn, view);
  }

  private static void lost(Turn turn, OperationView view, String sentence) {
    turn.report()
        .also(ConditionType.SOURCE_RUNNING, ConditionValue.FALSE, Reason.WORKLOAD_LOST, sentence);
    turn.mark(PodConditionUpdate.notFrozen(Reason.WORKLOAD_LOST.value(), sentence));
    turn.tell(true, Reason.WORKLOAD_LOST, sentence, occasion(view, "lost"));
  }

  private static String sentence(OperationView view) {
    String why = Objects.requireNonNullElse(view.status().getMessage(), view.reason());
    return view.workload() == WorkloadState.FROZEN
        ? "it still stands still, and its agent tries again until it runs: " + why
        : "nobody can say whether it runs, and its agent tries again: " + why;
  }

  private static String occasion(OperationView view, String what) {
    return what + "/" + view.operation().getMetadata().getUid();
  }
}
