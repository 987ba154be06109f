package dev.stasis.local.kubelet;

import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.local.image.LocalImage;
import dev.stasis.local.runc.ContainerConfig;
import java.util.List;

/** A container to start, and its pod's request. */
record ContainerPlan(ContainerConfig config, LocalImage image, List<PodMount> volumes) {
  ContainerPlan {
    volumes = List.copyOf(volumes);
  }
}
