package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuAllocations;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import java.util.Optional;

/** The limits of a container; 0 where it has none. */
record ContainerLimits(long memoryBytes, int gpus) {

  static ContainerLimits of(Container container) {
    Map<String, Quantity> limits =
        Optional.ofNullable(container.getResources())
            .map(resources -> resources.getLimits())
            .orElse(Map.of());
    return new ContainerLimits(
        Optional.ofNullable(limits.get("memory"))
            .map(limit -> Quantity.getAmountInBytes(limit).longValue())
            .orElse(0L),
        Optional.ofNullable(limits.get(GpuAllocations.RESOURCE))
            .map(limit -> limit.getNumericalAmount().intValue())
            .orElse(0));
  }
}
