package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Carries out what a turn decided. */
final class Hands {

  private final Operations operations;
  private final PodWrites pods;
  private final EventRecorder events;
  private final KubernetesClient client;
  private final Departure departure;

  Hands(
      Operations operations,
      PodWrites pods,
      EventRecorder events,
      KubernetesClient client,
      Departure departure) {
    this.departure = departure;
    this.operations = operations;
    this.pods = pods;
    this.events = events;
    this.client = client;
  }

  void carryOut(Turn turn) {
    turn.finish();
    turn.acts().forEach(act -> perform(turn.object(), act));
    turn.stories().forEach(events::tell);
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
