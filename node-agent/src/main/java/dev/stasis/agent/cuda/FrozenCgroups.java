package dev.stasis.agent.cuda;

import dev.stasis.agent.process.CgroupMembership;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Determines whether a process is frozen by a cgroup, v1 or v2, or is about to be. A frozen thread
 * looks as if it were sleeping, so only the cgroup shows it.
 */
final class FrozenCgroups {

  private final ProcFs proc;
  private final List<Mount> hierarchies;

  FrozenCgroups(ProcFs proc) {
    this(proc, proc.mounts((int) ProcessHandle.current().pid()));
  }

  /**
   * @param mounts the mounts that this process sees
   */
  FrozenCgroups(ProcFs proc, List<Mount> mounts) {
    this.proc = proc;
    this.hierarchies = mounts.stream().filter(FrozenCgroups::canFreeze).toList();
  }

  private static boolean canFreeze(Mount mount) {
    return "cgroup2".equals(mount.type())
        || ("cgroup".equals(mount.type()) && mount.superOptions().contains("freezer"));
  }

  /** The frozen cgroup that the process is in. */
  Optional<Path> frozen(int pid) {
    if (hierarchies.isEmpty()) {
      return Optional.empty();
    }
    return proc.cgroups(pid).stream()
        .filter(cgroup -> cgroup.isUnified() || cgroup.controllers().contains("freezer"))
        .map(this::frozen)
        .flatMap(Optional::stream)
        .findFirst();
  }

  private Optional<Path> frozen(CgroupMembership cgroup) {
    for (Mount mount : hierarchies) {
      boolean unified = "cgroup2".equals(mount.type());
      if (unified == cgroup.isUnified() && cgroup.path().startsWith(mount.root())) {
        Path top = Path.of(mount.mountPoint());
        String below = cgroup.path().substring(mount.root().length());
        Path folder = top.resolve(below.replaceFirst("^/+", "")).normalize();
        return unified ? frozenUnified(top, folder) : frozenSeparate(folder);
      }
    }
    return Optional.empty();
  }

  /** v1: FREEZING and FROZEN, also if a parent cgroup was frozen. */
  private static Optional<Path> frozenSeparate(Path folder) {
    Optional<String> state = read(folder.resolve("freezer.state"));
    return state.filter(text -> !"THAWED".equals(text)).map(text -> folder);
  }

  /** v2: cgroup.events shows that all processes are frozen, cgroup.freeze that it was requested. */
  private static Optional<Path> frozenUnified(Path top, Path folder) {
    if (read(folder.resolve("cgroup.events")).filter(FrozenCgroups::saysFrozen).isPresent()) {
      return Optional.of(folder);
    }
    for (Path at = folder; at != null && at.startsWith(top); at = at.getParent()) {
      if (read(at.resolve("cgroup.freeze")).filter("1"::equals).isPresent()) {
        return Optional.of(at);
      }
    }
    return Optional.empty();
  }

  private static boolean saysFrozen(String events) {
    return events.lines().anyMatch("frozen 1"::equals);
  }

  /** Empty for a root cgroup, which has none of these files, and for a cgroup that is gone. */
  private static Optional<String> read(Path file) {
    try {
      return Optional.of(Files.readString(file).trim());
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
