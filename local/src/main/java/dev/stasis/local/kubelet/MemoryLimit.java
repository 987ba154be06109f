package dev.stasis.local.kubelet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Quantity;

/** The memory that a container may use, in bytes; 0 when nothing limits it. */
record MemoryLimit(long bytes) {

  static MemoryLimit of(Container container) {
    if (container.getResources() == null || container.getResources().getLimits() == null) {
      return new MemoryLimit(0);
    }
    Quantity limit = container.getResources().getLimits().get("memory");
    return new MemoryLimit(limit == null ? 0 : Quantity.getAmountInBytes(limit).longValue());
  }
}
