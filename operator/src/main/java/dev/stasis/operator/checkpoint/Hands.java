package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;

/** Carries out what a turn decided. */
final class Hands {

  private final Operations operations;
  private final PodWrites pods;
  private final Events events;
  private final KubernetesClient client;
  private final Departure departure;

  Hands(
      Operations operations,
      PodWrites pods,
      Events events,
      KubernetesClient client,
      Departure departure) {
    this.departure = departure;
    this.operations = operations;
    this.pods = pods;
    this.events = events;
    this.client = client;
  }

  void carryOut(Turn turn) {
    Optional<Question> question = turn.takeQuestion();
    while (question.isPresent()) {
      question.get().then().accept(answer(question.get().ask()));
      question = turn.takeQuestion();
    }
    turn.finish();
    turn.acts().forEach(act -> perform(turn.object(), act));
    turn.stories().forEach(events::tell);
  }

  private PodWrites.Answer answer(Question.Ask ask) {
    if (ask instanceof Question.Resize resize) {
      return pods.resize(resize.resized(), resize.dryRun());
    }
    if (ask instanceof Question.Depart depart) {
      Optional<String> against =
          depart.dryRun() ? departure.refusal() : departure.prepare(depart.pod());
      return against
          .<PodWrites.Answer>map(sentence -> new PodWrites.Refused(sentence, !depart.dryRun()))
          .orElseGet(PodWrites.Accepted::new);
    }
    Question.Evict evict = (Question.Evict) ask;
    return pods.evict(evict.pod(), evict.dryRun());
  }

  private void perform(GpuCheckpoint object, Act act) {
    if (act instanceof Act.Create create) {
      operations.create(create.operation());
    } else if (act instanceof Act.Cancel cancel) {
      operations.cancel(cancel.operation().operation());
    } else if (act instanceof Act.Release release) {
      operations.release(release.operation().operation());
    } else if (act instanceof Act.Withdraw withdraw) {
      operations.withdraw(withdraw.operation().operation());
    } else if (act instanceof Act.Abandon abandon) {
      operations.abandon(abandon.operation().operation());
    } else if (act instanceof Act.MarkPod mark) {
      pods.condition(mark.pod(), mark.mark());
    } else if (act instanceof Act.TakeBack back) {
      departure.takeBack(back.pod(), back.source());
    } else if (act instanceof Act.DeleteSelf) {
      client.resource(object).delete();
    }
  }
}
