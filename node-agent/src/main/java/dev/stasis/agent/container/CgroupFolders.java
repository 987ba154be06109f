package dev.stasis.agent.container;

import dev.stasis.agent.process.CgroupMembership;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the folders of cgroups: v1, v2, or both beside each other. */
final class CgroupFolders {

  private final List<Mount> hierarchies;

  /** Looks at the hierarchies as this process sees them. */
  CgroupFolders(ProcFs proc) {
    this(proc.mounts((int) ProcessHandle.current().pid()));
  }

  CgroupFolders(List<Mount> mounts) {
    this.hierarchies = mounts.stream().filter(mount -> mount.type().startsWith("cgroup")).toList();
  }

  List<Cgroup> of(List<CgroupMembership> memberships) {
    List<Cgroup> cgroups = new ArrayList<>();
    for (CgroupMembership membership : memberships) {
      // A path that leads out of the root is seen from inside a cgroup namespace: no folder for it.
      if (!membership.path().startsWith("/..")) {
        find(membership).ifPresent(cgroups::add);
      }
    }
    return cgroups;
  }

  /** The top of every hierarchy. */
  List<Cgroup> all() {
    return hierarchies.stream()
        .map(mount -> Path.of(mount.mountPoint()))
        .map(folder -> new Cgroup(List.of(), folder, folder))
        .toList();
  }

  private Optional<Cgroup> find(CgroupMembership membership) {
    for (Mount mount : hierarchies) {
      boolean same =
          membership.isUnified()
              ? "cgroup2".equals(mount.type())
              : "cgroup".equals(mount.type())
                  && mount.superOptions().containsAll(membership.controllers());
      if (same && membership.path().startsWith(mount.root())) {
        Path hierarchy = Path.of(mount.mountPoint());
        String below = membership.path().substring(mount.root().length());
        return Optional.of(
            new Cgroup(
                membership.controllers(),
                hierarchy,
                hierarchy.resolve(below.replaceFirst("^/+", ""))));
      }
    }
    return Optional.empty();
  }
}
