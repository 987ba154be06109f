package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Targets that wait until a GpuRestore claims them. */
public final class Waiting {

  /** The scheduling gate of such a pod. */
  public static final String GATE = Api.GROUP + "/restore";

  private Waiting() {}

  /** Returns whether the pod is such a target. */
  public static boolean is(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && Marks.labels(pod).containsKey(Api.CHECKPOINT_LABEL)
        && pod.getSpec().getSchedulingGates().stream().anyMatch(it -> it.getName().equals(GATE));
  }

  /** Returns the GpuCheckpoint for which it waits; empty if it is not such a target. */
  public static Optional<String> checkpoint(Pod pod) {
    return is(pod) ? Marks.label(pod, Api.CHECKPOINT_LABEL) : Optional.empty();
  }
}
