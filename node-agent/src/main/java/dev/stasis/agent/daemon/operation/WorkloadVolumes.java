package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.agent.layer.TargetVolumes;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Distinguishes volumes with files of the workload, which end with its pod, from all others. */
record WorkloadVolumes(PodContainer container) {

  /** The holder's own files: they belong to the container, never to the workload. */
  private static final String HOLDER_FOLDER = "/.stasis";

  /** Returns the emptyDirs to pack; the engine adds /dev/shm itself. */
  Set<String> packed() {
    return all().emptyDirs().keySet().stream()
        .filter(path -> !path.equals("/dev/shm"))
        .collect(Collectors.toSet());
  }

  /** Returns the container's writable emptyDirs, separately from all other volumes. */
  TargetVolumes all() {
    Map<String, Path> emptyDirs = new HashMap<>();
    Set<String> others = new HashSet<>();
    for (PodMount mount : container.mounts()) {
      String path = mount.containerPath().replaceFirst("(?<=.)/+$", "");
      if (mount.emptyDir().isPresent() && !mount.readOnly() && !path.equals(HOLDER_FOLDER)) {
        emptyDirs.put(path, mount.hostPath());
      } else {
        others.add(path);
      }
    }
    return new TargetVolumes(emptyDirs, others);
  }
}
