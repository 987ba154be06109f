package dev.stasis.operator.checkpoint;

import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** What a pod gets back whose workload goes on: its memory limit, and the Job that released it. */
final class Onward {

  private final RoomReturn room;
  private final Template template;

  Onward(RoomReturn room, Template template) {
    this.room = room;
    this.template = template;
  }

  void next(Turn turn, OperationView freeze) {
    room.next(turn);
    Optional<Pod> source = template.read(Orders.template(freeze));
    Optional<Pod> released =
        turn.pod()
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .filter(pod -> Owners.of(pod).isEmpty());
    if (released.isPresent() && source.flatMap(Owners::of).filter(Owners::isJob).isPresent()) {
      turn.act(new Act.TakeBack(released.get(), source.get()));
    }
  }
}
