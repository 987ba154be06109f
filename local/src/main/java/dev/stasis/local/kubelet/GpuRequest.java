package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuAllocations;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;

/** How many GPUs are asked for. */
record GpuRequest(int count) {

  static GpuRequest of(Container container) {
    if (container.getResources() == null || container.getResources().getLimits() == null) {
      return new GpuRequest(0);
    }
    Quantity asked = container.getResources().getLimits().get(GpuAllocations.RESOURCE);
    return new GpuRequest(asked == null ? 0 : asked.getNumericalAmount().intValue());
  }

  static GpuRequest of(Pod pod) {
    return new GpuRequest(
        pod.getSpec().getContainers().stream().mapToInt(it -> of(it).count()).sum());
  }
}
