package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;

/** What the container does in the product. */
public final class ClusterParts {

  private ClusterParts() {}

  /** The pod as the watch keeps it. */
  public static Pod kept(Pod pod, StasisConfig config) {
    return new PodTransform(Set.copyOf(config.gpuResources())).apply(pod);
  }

  /** Returns whether the watch finds the checkpoint by that store. */
  public static boolean isIn(GpuCheckpoint checkpoint, String store) {
    return store.equals(SharedInformers.storeOf(checkpoint));
  }

  public static void stop(Informers informers) {
    informers.stop();
  }
}
