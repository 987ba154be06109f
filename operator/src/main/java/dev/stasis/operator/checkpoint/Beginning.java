package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.owner.PodEvictor;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;

/** No order is given yet: looks whether it can be, and gives it. */
final class Beginning {

  private final Validation validation;
  private final Orders orders;
  private final Template template;
  private final Explaining explaining;

  Beginning(Validation validation, Orders orders, Template template, Explaining explaining) {
    this.validation = validation;
    this.orders = orders;
    this.template = template;
    this.explaining = explaining;
  }

  void next(Turn turn) {
    Frozen frozen = Frozen.next(turn);
    if (turn.status().getPhase() == null) {
      turn.enter(CheckpointPhase.PENDING);
    }
    if (turn.isCancelled()) {
      turn.enter(CheckpointPhase.CANCELLED);
      turn.report().cancelled(Reason.CANCELLED, "cancelled before anything was touched");
      turn.tell(false, Reason.CANCELLED, "cancelled before anything was touched", "cancelled");
      return;
    }
    Validation.Result result = validation.validate(turn, frozen);
    boolean late = frozen.number() == 1 && !turn.now().isBefore(turn.deadline());
    if (result instanceof Validation.Refused refused) {
      refused(turn, refused);
    } else if (result instanceof Validation.Wait wait && late) {
      turn.fail(
          Reason.DEADLINE_EXCEEDED,
          "deadline: expected it begun within %s, got it waiting: %s"
              .formatted(turn.spec().getOptions().getDeadline(), wait.sentence()));
    } else if (result instanceof Validation.Wait wait) {
      wait(turn, wait);
    } else if (result instanceof Validation.Admitted admitted) {
      admitted(turn, frozen, admitted);
    }
  }

  private void refused(Turn turn, Validation.Refused refused) {
    if (turn.spec().getOptions().getDryRun()) {
      explaining.withoutAgent(turn, refused.faults());
      return;
    }
    turn.pod()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase()))
        .ifPresent(pod -> untouched(turn));
    turn.refuse(refused.faults());
  }

  private static void wait(Turn turn, Validation.Wait wait) {
    turn.working(wait.reason(), wait.sentence());
    untouched(turn);
    turn.tell(
        wait.reason() == Reason.NODE_SILENT,
        wait.reason(),
        wait.sentence(),
        "waits/" + wait.reason());
    turn.again(turn.config().lookAgainEvery());
    turn.againAt(turn.deadline());
  }

  private void admitted(Turn turn, Frozen frozen, Validation.Admitted admitted) {
    if (turn.spec().getAfterCheckpoint() == AfterCheckpoint.EVICT
        && !turn.spec().getOptions().getDryRun()
        // The webhook has asked that already, and by now a budget of our own refuses everybody.
        && !turn.isForAnEviction()) {
      PodEvictor.Result result = turn.evictor().dryRun(admitted.pod());
      if (result instanceof PodEvictor.OwnerLives lives) {
        untouched(turn);
        turn.fail(Reason.OWNED_POD, lives.message());
        return;
      }
      if (result instanceof PodEvictor.Refused refused) {
        evictionRefused(turn, refused);
        return;
      }
    }
    order(turn, frozen, admitted);
  }

  private static void evictionRefused(Turn turn, PodEvictor.Refused refused) {
    if (refused.later() && turn.now().isBefore(turn.deadline())) {
      wait(turn, new Validation.Wait(Reason.EVICTION_REFUSED, refused.message()));
    } else {
      untouched(turn);
      turn.fail(Reason.EVICTION_REFUSED, refused.message());
    }
  }

  private void order(Turn turn, Frozen frozen, Validation.Admitted admitted) {
    turn.status()
        .setPod(
            new ObservedPod(
                admitted.pod().getMetadata().getName(),
                admitted.pod().getMetadata().getUid(),
                admitted.container(),
                admitted.node()));
    if (frozen.number() == 1) {
      turn.status().setPodTemplate(template.of(admitted.pod()));
    }
    turn.status().setOtherContainers(admitted.others().isEmpty() ? null : admitted.others());
    turn.status().setFaults(null);
    GpuNodeOperation order = orders.freeze(turn, frozen, admitted);
    turn.status().setOperation(order.getMetadata().getName());
    turn.act(new Act.Create(order));
    turn.working(Reason.WAITING_FOR_AGENT, "ordered from the agent of node " + admitted.node());
    untouched(turn);
    turn.again(turn.config().lookAgainEvery());
  }

  private static void untouched(Turn turn) {
    turn.report()
        .also(
            ConditionType.SOURCE_RUNNING,
            ConditionValue.TRUE,
            Reason.UNTOUCHED,
            "nobody touched it");
  }
}
