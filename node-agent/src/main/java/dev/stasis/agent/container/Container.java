package dev.stasis.agent.container;

import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A running container, or a single process that is treated as one.
 *
 * @param id the runtime's id, or {@code pid-PID-START} for a single process; valid as a file name
 * @param init the container's first process
 * @param root the first process of the workload: {@code init}, or in a restored container the
 *     restored process below the holder
 * @param cgroups the container's cgroup in each hierarchy
 * @param ownsCgroups whether these cgroups contain only this container; false for a single process
 * @param mounts the mounts that {@code root} sees
 * @param namespaces types and inodes of {@code root}'s namespaces
 * @param pipes pipes of the workload with an end outside the container
 * @param upper the writable layer of an overlay root; empty if there is none
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
    Optional<Path> upper,
    int uid,
    int gid) {

  public Container {
    cgroups = List.copyOf(cgroups);
    mounts = List.copyOf(mounts);
    namespaces = Map.copyOf(namespaces);
    pipes = List.copyOf(pipes);
  }

  /**
   * Returns whether a holder is the container's first process, with the workload restored below it.
   */
  public boolean isRestored() {
    return !init.equals(root);
  }
}
