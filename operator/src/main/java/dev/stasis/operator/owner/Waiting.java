package dev.stasis.operator.owner;

import dev.stasis.api.v1alpha1.Api;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Targets that wait until a GpuRestore claims them. */
public final class Waiting {

  /** Holds such a pod back from the scheduler. */
  public static final String GATE = Api.GROUP + "/restore";

  private Waiting() {}

  /** Whether it is one. */
  public static boolean is(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && pod.getMetadata().getLabels() != null
        && pod.getMetadata().getLabels().containsKey(Api.CHECKPOINT_LABEL)
        && pod.getSpec().getSchedulingGates().stream().anyMatch(it -> it.getName().equals(GATE));
  }

  /** The GpuCheckpoint for which it waits; empty: it is none. */
  public static Optional<String> checkpoint(Pod pod) {
    return is(pod)
        ? Optional.ofNullable(pod.getMetadata().getLabels().get(Api.CHECKPOINT_LABEL))
        : Optional.empty();
  }
}
