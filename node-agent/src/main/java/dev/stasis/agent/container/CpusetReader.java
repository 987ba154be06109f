package dev.stasis.agent.container;

import dev.stasis.agent.process.CpuSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the processors that a container's cgroup allows, v1 or v2. */
public final class CpusetReader {

  private final Path online;

  public CpusetReader() {
    this(Path.of("/sys/devices/system/cpu/online"));
  }

  /** Creates a reader with another file for the machine's processors. */
  CpusetReader(Path online) {
    this.online = online;
  }

  /** All of the machine's processors if no cgroup restricts them; empty if these cannot be read. */
  public CpuSet read(Container container) {
    for (Cgroup cgroup : container.cgroups()) {
      boolean separate = cgroup.controls("cpuset");
      if (separate || cgroup.isUnified()) {
        String file = separate ? "cpuset.effective_cpus" : "cpuset.cpus.effective";
        Optional<CpuSet> found = nearest(cgroup, file);
        if (found.isPresent()) {
          return found.get();
        }
      }
    }
    return cpus(online).orElse(CpuSet.parse(""));
  }

  /** A unified cgroup without the controller has no such file: its parent's file applies. */
  private static Optional<CpuSet> nearest(Cgroup cgroup, String file) {
    for (Path at = cgroup.folder();
        at != null && at.startsWith(cgroup.hierarchy());
        at = at.getParent()) {
      Optional<CpuSet> found = cpus(at.resolve(file));
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<CpuSet> cpus(Path file) {
    try {
      return Optional.of(CpuSet.parse(Files.readString(file))).filter(set -> !set.isEmpty());
    } catch (IOException e) {
      // The root has no such file, and a cgroup may be removed meanwhile.
      return Optional.empty();
    }
  }
}
