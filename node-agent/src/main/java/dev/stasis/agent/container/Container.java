package dev.stasis.agent.container;

import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcessId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A running container, or a process without one that is treated alike.
 *
 * @param id the runtime's id, or {@code pid-PID-START} for a plain process; fit for a file name
 * @param init the container's first process
 * @param root the first process of the workload: {@code init}, but in a container that was restored
 *     into, the restored process below the holder
 * @param cgroups where the container lies in each hierarchy
 * @param ownsCgroups whether these cgroups hold this container only; false for a plain process
 * @param mounts the mounts that {@code root} sees
 * @param namespaces types and inodes of {@code root}'s namespaces
 * @param pipes pipes of the workload that lead outside
 * @param layers the folders behind the root, when that is an overlay
 * @param uid real user of {@code root}
 * @param gid real group of {@code root}
 */
public record Container(
    String id,
    ProcessId init,
    ProcessId root,
    List<Cgroup> cgroups,
    boolean ownsCgroups,
    List<Mount> mounts,
    Map<String, Long> namespaces,
    List<OutsidePipe> pipes,
    Optional<OverlayLayers> layers,
    int uid,
    int gid) {

  public Container {
    cgroups = List.copyOf(cgroups);
    mounts = List.copyOf(mounts);
    namespaces = Map.copyOf(namespaces);
    pipes = List.copyOf(pipes);
  }

  /** Whether a holder is the container's first process and the workload was restored below it. */
  public boolean isRestored() {
    return !init.equals(root);
  }

  public Optional<Mount> rootMount() {
    // The last one mounted there is the one that is seen.
    return mounts.stream()
        .filter(mount -> "/".equals(mount.mountPoint()))
        .reduce((first, second) -> second);
  }

  public boolean hasReadOnlyRoot() {
    return rootMount().filter(Mount::isReadOnly).isPresent();
  }
}
