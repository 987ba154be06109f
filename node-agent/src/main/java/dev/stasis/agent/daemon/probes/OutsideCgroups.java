package dev.stasis.agent.daemon.probes;

import dev.stasis.agent.process.CgroupMembership;
import dev.stasis.agent.process.ProcFs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The cgroups into which a child goes that has to outlive the agent's container: the runtime ends
 * whatever lies in the container's own.
 */
final class OutsideCgroups {

  private final ProcFs proc;
  private final Path root;

  OutsideCgroups(ProcFs proc, Path root) {
    this.proc = proc;
    this.root = root;
  }

  /** The root of each hierarchy in which this process is not at the root already. */
  List<Path> folders() {
    return proc.cgroups((int) ProcessHandle.current().pid()).stream()
        .filter(membership -> !membership.path().equals("/"))
        .map(this::folder)
        .filter(folder -> Files.isWritable(folder.resolve("cgroup.procs")))
        .toList();
  }

  private Path folder(CgroupMembership membership) {
    if (!membership.isUnified()) {
      return root.resolve(String.join(",", membership.controllers()).replace("name=", ""));
    }
    // Beside hierarchies of version 1, the unified one has a folder of its own.
    Path hybrid = root.resolve("unified");
    return Files.isDirectory(hybrid) ? hybrid : root;
  }
}
