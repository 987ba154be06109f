package dev.stasis.agent.daemon.kubelet;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the devices of claims from the ResourceSlices that their drivers publish. */
public final class ResourceSlices implements KubeletPodResources.ClaimedDevices {

  private static final ResourceDefinitionContext SLICES =
      new ResourceDefinitionContext.Builder()
          .withGroup("resource.k8s.io")
          .withVersion("v1")
          .withKind("ResourceSlice")
          .withPlural("resourceslices")
          .withNamespaced(false)
          .build();

  private final KubernetesClient client;

  public ResourceSlices(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public Optional<String> uuid(String driver, String pool, String device) throws NodeApiException {
    List<GenericKubernetesResource> slices;
    try {
      slices =
          client
              .genericKubernetesResources(SLICES)
              .withField("spec.driver", driver)
              .list()
              .getItems();
    } catch (KubernetesClientException e) {
      throw new NodeApiException(
          "resource slices of " + driver + ": expected a list, got " + e.getMessage(), e);
    }
    List<GenericKubernetesResource> ofPool =
        slices.stream().filter(slice -> pool.equals(slice.get("spec", "pool", "name"))).toList();
    // While a driver replaces the slices of a pool, those of an earlier generation are still there.
    long newest = ofPool.stream().mapToLong(ResourceSlices::generation).max().orElse(0);
    return ofPool.stream()
        .filter(slice -> generation(slice) == newest)
        .map(slice -> (Object) slice.get("spec", "devices"))
        .filter(List.class::isInstance)
        .flatMap(devices -> ((List<?>) devices).stream())
        .filter(Map.class::isInstance)
        .map(one -> (Map<?, ?>) one)
        .filter(one -> device.equals(one.get("name")))
        .flatMap(one -> attributeUuid(one.get("attributes")).stream())
        .findFirst();
  }

  private static long generation(GenericKubernetesResource slice) {
    return slice.get("spec", "pool", "generation") instanceof Number number
        ? number.longValue()
        : 0;
  }

  /** A driver may name its own attributes with or without its domain. */
  private static Optional<String> attributeUuid(@Nullable Object attributes) {
    if (!(attributes instanceof Map<?, ?> all)) {
      return Optional.empty();
    }
    return all.entrySet().stream()
        .filter(entry -> entry.getKey().toString().replaceFirst(".*/", "").equals("uuid"))
        .map(Map.Entry::getValue)
        .filter(Map.class::isInstance)
        .map(value -> ((Map<?, ?>) value).get("string"))
        .filter(String.class::isInstance)
        .map(String.class::cast)
        .findFirst();
  }
}
