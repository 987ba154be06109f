package dev.stasis.agent.layer;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The volumes that the kubelet mounted into a target container.
 *
 * @param emptyDirs the host folder of each writable emptyDir, by its path in the container
 * @param others paths in the container with other mounts
 */
public record TargetVolumes(Map<String, Path> emptyDirs, Set<String> others) {
  public TargetVolumes {
    emptyDirs = Map.copyOf(emptyDirs);
    others = Set.copyOf(others);
  }

  /** Returns the volumes of a container outside Kubernetes, which has no emptyDirs. */
  public static TargetVolumes none() {
    return new TargetVolumes(Map.of(), Set.of());
  }
}
