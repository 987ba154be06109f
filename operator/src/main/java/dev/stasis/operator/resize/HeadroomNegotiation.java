package dev.stasis.operator.resize;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.room.NodeMemory;
import dev.stasis.operator.room.RoomFacts;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.RoomPlanner;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Answers an agent that waits because the memory limit of its pod has no room for the device
 * memory: the limit is raised by an in-place resize. Nothing is frozen meanwhile.
 */
public final class HeadroomNegotiation {

  /** The reason by which an agent asks. */
  private static final String ASKED = "WaitingForRoom";

  private static final RoomPlanner PLANNER = new RoomPlanner();

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

  /** Returns whether the agent of an operation waits for an answer. */
  public static boolean isAsked(OperationView view) {
    return view.phase() == OperationPhase.CLAIMED
        && view.reason().equals(ASKED)
        && view.status().getRoom() != null;
  }

  /** Returns how the memory that the agent reports can be provided. */
  public static RoomPlan plan(
      Cluster cluster, OperationView view, Pod pod, Node node, MemoryLimitPolicy policy) {
    Room room = Objects.requireNonNull(view.status().getRoom(), "the agent reported it");
    String container =
        Objects.requireNonNull(view.operation().getSpec().getPod(), "a freeze has a pod")
            .containerName();
    String namespace = pod.getMetadata().getNamespace();
    return PLANNER.plan(
        new RoomFacts(
            pod,
            container,
            new RoomFacts.Need(orZero(room.usedBytes()), orZero(room.neededBytes())),
            policy,
            NodeMemory.of(
                node,
                cluster.podsOn(node.getMetadata().getName()),
                Objects.requireNonNullElse(room.nodeFreeBytes(), Long.MAX_VALUE)),
            cluster.quotas(namespace),
            cluster.ranges(namespace)));
  }

  public Result answer(OperationView freeze, Pod pod, Node node, MemoryLimitPolicy policy) {
    RoomPlan plan = plan(cluster, freeze, pod, node, policy);
    if (plan instanceof RoomPlan.Refused refused) {
      return new Refused(refused.faults());
    }
    if (!(plan instanceof RoomPlan.Resize resize)) {
      return new Waiting(kubelet.waiting(pod));
    }
    Pod resized = PLANNER.resized(pod, resize.container(), resize.raised());
    PodWrites.Answer answer = pods.resize(resized, true);
    if (answer instanceof PodWrites.Accepted) {
      answer = pods.resize(resized, false);
    }
    if (answer instanceof PodWrites.Refused refused) {
      return new Refused(
          List.of(
              Reason.NO_ROOM.misfit(
                  "resize of container " + resize.container(),
                  "memory limit " + resize.raised().limit(),
                  refused.sentence())));
    }
    Room found = Objects.requireNonNull(freeze.status().getRoom(), "the agent reported it");
    String original = resize.original().limit().toString();
    return new Raised(
        new Room(
            found.neededBytes(),
            found.usedBytes(),
            found.limitBytes(),
            original,
            found.nodeFreeBytes()),
        "the memory limit of container %s is raised from %s to %s for the device memory"
            .formatted(resize.container(), original, resize.raised().limit()));
  }

  private static long orZero(@Nullable Long bytes) {
    return bytes == null ? 0 : bytes;
  }
}
