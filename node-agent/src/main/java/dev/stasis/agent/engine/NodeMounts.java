package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.RuntimeMounts;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The mounts that the container runtime of this node makes in every container: those of the agent's
 * own one.
 */
final class NodeMounts {

  /** Where the kubelet has the volumes of pods. */
  private static final String VOLUMES = "/volumes/kubernetes.io~";

  private final ProcFs proc;

  NodeMounts(ProcFs proc) {
    this.proc = proc;
  }

  RuntimeMounts offered() {
    return of(proc.mounts((int) ProcessHandle.current().pid()));
  }

  /**
   * Finds them among the mounts of an agent; none if it is not in a container. Its host folders
   * have the same path in its container, and its other volumes can be recognized.
   */
  static RuntimeMounts of(List<Mount> own) {
    Optional<Mount> root =
        own.stream()
            .filter(mount -> mount.mountPoint().equals("/"))
            .reduce((first, second) -> second)
            .filter(mount -> mount.type().equals("overlay"));
    if (root.isEmpty()) {
      return new RuntimeMounts(Set.of());
    }
    return RuntimeMounts.of(
        own.stream()
            .filter(mount -> mount.parentId() == root.get().id())
            .filter(mount -> !mount.root().equals(mount.mountPoint()))
            .filter(mount -> !mount.root().contains(VOLUMES))
            .toList(),
        List.of());
  }
}
