package dev.stasis.operator.resize;

import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.RoomPlanner;
import dev.stasis.operator.room.TargetRoom;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Lowers the memory limit of a pod that was raised for the device memory. */
public final class HeadroomReturn {

  private final RoomPlanner planner = new RoomPlanner();
  private final TargetRoom room = new TargetRoom();
  private final KubeletWord kubelet = new KubeletWord();
  private final PodWrites pods;

  public HeadroomReturn(PodWrites pods) {
    this.pods = pods;
  }

  /**
   * The progress.
   *
   * @param done whether the limit has its old value
   */
  public record Result(boolean done, String message) {}

  /**
   * Requests the old limit of the pod. A kubelet defers that while more memory is in use, so the
   * request is repeated until it succeeds.
   *
   * @param was the pod before its limit was raised
   * @param now the current pod
   * @return empty while the kubelet applies it
   */
  public Optional<Result> lower(Pod was, Pod now, String container) {
    Optional<RoomPlan.Memory> original = room.original(was, now, container);
    if (original.isEmpty()) {
      return kubelet.hasIt(now, container)
          ? Optional.of(
              new Result(
                  true, "the memory limit of container " + container + " has its original value"))
          : Optional.empty();
    }
    PodWrites.Answer answer = pods.resize(planner.resized(now, container, original.get()), false);
    String message =
        "the memory limit of container "
            + container
            + " is to be lowered to "
            + original.get().limit();
    return Optional.of(
        new Result(
            false,
            answer instanceof PodWrites.Refused refused
                ? message + ": " + refused.sentence()
                : message));
  }
}
