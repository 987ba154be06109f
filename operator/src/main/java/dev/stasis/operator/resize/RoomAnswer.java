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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The answer to an agent that reports a memory limit without space for the device memory, and
 * waits. Nothing is frozen meanwhile.
 */
public final class RoomAnswer {

  /** The agent's report. */
  private static final String ASKED = "WaitingForRoom";

  private final RoomPlanner planner = new RoomPlanner();

  /** Whether it waits for an answer. */
  public static boolean isAsked(OperationView view) {
    return view.phase() == OperationPhase.CLAIMED
        && view.reason().equals(ASKED)
        && view.status().getRoom() != null;
  }

  /** The action. */
  public RoomPlan plan(
      Cluster cluster, OperationView view, Pod pod, Node node, MemoryLimitPolicy policy) {
    Room room = Objects.requireNonNull(view.status().getRoom(), "the agent requested it");
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

  /** The desired pod. */
  public Pod resized(Pod pod, RoomPlan.Resize resize) {
    return planner.resized(pod, resize.container(), resize.raised());
  }

  /** The memory found, with the limit to restore later. */
  public static Room raised(Room found, RoomPlan.Resize resize) {
    return new Room(
        found.neededBytes(),
        found.usedBytes(),
        found.limitBytes(),
        resize.original().limit().toString(),
        found.nodeFreeBytes());
  }

  /** One sentence for users. */
  public static String sentence(RoomPlan.Resize resize) {
    return "the memory limit of container %s is raised from %s to %s for the device memory"
        .formatted(resize.container(), resize.original().limit(), resize.raised().limit());
  }

  /** The API server's answer to it. */
  public static Fault fault(RoomPlan.Resize resize, PodWrites.Refused refused) {
    return Reason.NO_ROOM.misfit(
        "resize of container " + resize.container(),
        "memory limit " + resize.raised().limit(),
        refused.sentence());
  }

  private static long orZero(@Nullable Long bytes) {
    return bytes == null ? 0 : bytes;
  }
}
