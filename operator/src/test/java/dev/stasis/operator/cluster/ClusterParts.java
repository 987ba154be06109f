package dev.stasis.operator.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.skew.NewerObjects;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Set;

/** What the container does in the product. */
public final class ClusterParts {

  private ClusterParts() {}

  /** The pod as the watch keeps it. */
  public static Pod kept(Pod pod, StasisConfig config) {
    return new PodTransform(Set.copyOf(config.gpuResources())).apply(pod);
  }

  /** Returns whether the watch finds the object by that value of an index. */
  public static <R extends HasMetadata> boolean isIn(
      String index, String value, R object, Class<R> kind) {
    return Objects.requireNonNull(SharedInformers.indexers(kind).get(index), index)
        .apply(object)
        .contains(value);
  }

  /** As in the product, for kinds that are given. */
  public static SharingSerialization serialization() {
    return new SharingSerialization(
        new ObjectMapper().registerModule(new NewerObjects()), new Class<?>[0]);
  }

  public static void stop(Informers informers) {
    informers.stop();
  }
}
