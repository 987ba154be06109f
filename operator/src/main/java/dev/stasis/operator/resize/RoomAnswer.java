package dev.stasis.operator.resize;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.MemoryRoom;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An agent has said that a memory limit has no room for the device memory, and waits: what is
 * answered. Nothing is frozen meanwhile.
 */
public final class RoomAnswer {

  /** As the agent says it. */
  private static final String ASKED = "WaitingForRoom";

  private final RoomPlanner planner = new RoomPlanner();

  /** Whether it waits for an answer. */
  public boolean isAsked(OperationView view) {
    return view.phase() == OperationPhase.CLAIMED
        && view.reason().equals(ASKED)
        && view.status().getRoom() != null;
  }

  /** What is to be done about it. */
  public RoomPlan plan(Cluster cluster, OperationView view, Pod pod, Node node, MemoryRoom policy) {
    Room room = Objects.requireNonNull(view.status().getRoom(), "it was asked for");
    String container =
        Objects.requireNonNull(view.operation().getSpec().getPod(), "a freeze has a pod")
            .containerName();
    String namespace = pod.getMetadata().getNamespace();
    return planner.plan(
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

  /** The pod as it is to be. */
  public Pod resized(Pod pod, RoomPlan.Resize resize) {
    return planner.resized(pod, resize.container(), resize.raised());
  }

  /** The room as it was found, with the limit that is to be returned. */
  public static Room raised(Room found, RoomPlan.Resize resize) {
    return new Room(
        found.neededBytes(),
        found.usedBytes(),
        found.limitBytes(),
        resize.original().limit().toString(),
        found.nodeFreeBytes());
  }

  /** In one sentence, for people. */
  public static String sentence(RoomPlan.Resize resize) {
    return "the memory limit of container %s is raised from %s to %s for the device memory"
        .formatted(resize.container(), resize.original().limit(), resize.raised().limit());
  }

  /** What the API server said to it. */
  public static Fault fault(RoomPlan.Resize resize, PodWrites.Refused refused) {
    return Fault.misfit(
        Reason.NO_ROOM.word(),
        "resize of container " + resize.container(),
        "memory limit " + resize.raised().limit(),
        refused.sentence());
  }

  private static long orZero(@Nullable Long bytes) {
    return bytes == null ? 0 : bytes;
  }
}
