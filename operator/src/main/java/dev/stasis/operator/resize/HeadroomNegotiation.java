package dev.stasis.operator.resize;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.room.RoomPlan;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;

/**
 * Answers an agent that waits because the memory limit of its pod has no room for the device
 * memory: the limit is raised by an in-place resize. Nothing is frozen meanwhile.
 */
public final class HeadroomNegotiation {

  private final RoomAnswer answers = new RoomAnswer();
  private final KubeletWord kubelet = new KubeletWord();
  private final Cluster cluster;
  private final PodWrites pods;

  public HeadroomNegotiation(Cluster cluster, PodWrites pods) {
    this.cluster = cluster;
    this.pods = pods;
  }

  /** How far it is. */
  public sealed interface Result {}

  /** The kubelet has not applied the limit yet. */
  public record Waiting(String message) implements Result {}

  /**
   * The limit was raised now.
   *
   * @param room as the agent found it, with the limit that is to be returned
   */
  public record Raised(Room room, String message) implements Result {}

  /** There is no room. */
  public record Refused(List<Fault> faults) implements Result {
    public Refused {
      faults = List.copyOf(faults);
    }
  }

  /** Answers it. */
  public Result answer(OperationView freeze, Pod pod, Node node, MemoryLimitPolicy policy) {
    RoomPlan plan = answers.plan(cluster, freeze, pod, node, policy);
    if (plan instanceof RoomPlan.Refused refused) {
      return new Refused(refused.faults());
    }
    if (!(plan instanceof RoomPlan.Resize resize)) {
      return new Waiting(kubelet.waiting(pod));
    }
    Pod resized = answers.resized(pod, resize);
    PodWrites.Answer answer = pods.resize(resized, true);
    if (answer instanceof PodWrites.Accepted) {
      answer = pods.resize(resized, false);
    }
    if (answer instanceof PodWrites.Refused refused) {
      return new Refused(List.of(RoomAnswer.fault(resize, refused)));
    }
    Room room = Objects.requireNonNull(freeze.status().getRoom(), "the agent requested it");
    return new Raised(RoomAnswer.raised(room, resize), RoomAnswer.sentence(resize));
  }
}
