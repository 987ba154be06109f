package dev.stasis.agent.container;

import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads {@link MemoryRoom} from the memory cgroup, v1 or v2, and from /proc/meminfo. */
public final class MemoryRoomReader {

  /** cgroup v1 writes "no limit" as the largest number of pages. */
  private static final long NO_LIMIT = 1L << 62;

  private final ProcFs proc;

  public MemoryRoomReader(ProcFs proc) {
    this.proc = proc;
  }

  public MemoryRoom read(Container container) {
    List<MemoryRoom.Level> levels = new ArrayList<>();
    Optional<Cgroup> memory = memoryCgroup(container);
    if (memory.isPresent()) {
      Path top = memory.get().hierarchy();
      for (Path at = memory.get().folder(); at != null && at.startsWith(top); at = at.getParent()) {
        String name = "/" + top.relativize(at);
        Optional<MemoryRoom.Level> level =
            memory.get().isUnified() ? unified(at, name) : separate(at, name);
        level.ifPresent(levels::add);
      }
    }
    return new MemoryRoom(levels, proc.memory("MemAvailable").orElse(0));
  }

  /**
   * Returns the tightest memory limit of a process. Limits that process 1 has too are those of the
   * whole machine, which may be a container itself.
   */
  public OptionalLong limit(int pid) {
    Optional<Cgroup> own = memoryCgroup(pid);
    if (own.isEmpty()) {
      return OptionalLong.empty();
    }
    Optional<Path> machine = memoryCgroup(1).map(Cgroup::folder);
    String file = own.get().isUnified() ? "memory.max" : "memory.limit_in_bytes";
    OptionalLong tightest = OptionalLong.empty();
    for (Path at = own.get().folder();
        at != null && at.startsWith(own.get().hierarchy());
        at = at.getParent()) {
      OptionalLong limit = number(at.resolve(file));
      boolean shared = machine.isPresent() && machine.get().startsWith(at);
      if (limit.isPresent() && !shared) {
        tightest = OptionalLong.of(Math.min(limit.getAsLong(), tightest.orElse(Long.MAX_VALUE)));
      }
    }
    return tightest;
  }

  private Optional<Cgroup> memoryCgroup(int pid) {
    return memoryCgroup(new ContainerResolver.CgroupFolders(proc).of(proc.cgroups(pid)));
  }

  /** The cgroup that accounts the memory of a container. */
  static Optional<Cgroup> memoryCgroup(Container container) {
    return memoryCgroup(container.cgroups());
  }

  private static Optional<Cgroup> memoryCgroup(List<Cgroup> cgroups) {
    Optional<Cgroup> separate =
        cgroups.stream().filter(cgroup -> cgroup.controls("memory")).findFirst();
    return separate.isPresent() ? separate : cgroups.stream().filter(Cgroup::isUnified).findFirst();
  }

  private static Optional<MemoryRoom.Level> separate(Path folder, String name) {
    OptionalLong usage = number(folder.resolve("memory.usage_in_bytes"));
    if (usage.isEmpty()) {
      return Optional.empty();
    }
    long clean =
        stat(folder, "total_inactive_file")
            - stat(folder, "total_dirty")
            - stat(folder, "total_writeback");
    return Optional.of(
        new MemoryRoom.Level(
            name,
            usage.getAsLong(),
            number(folder.resolve("memory.limit_in_bytes")),
            Math.max(0, clean)));
  }

  private static Optional<MemoryRoom.Level> unified(Path folder, String name) {
    OptionalLong usage = number(folder.resolve("memory.current"));
    if (usage.isEmpty()) {
      return Optional.empty();
    }
    long clean =
        stat(folder, "inactive_file") - stat(folder, "file_dirty") - stat(folder, "file_writeback");
    return Optional.of(
        new MemoryRoom.Level(
            name, usage.getAsLong(), number(folder.resolve("memory.max")), Math.max(0, clean)));
  }

  /** Returns a number of its statistics; 0 if missing. */
  static long stat(Path folder, String name) {
    return text(folder.resolve("memory.stat"))
        .flatMap(text -> text.lines().filter(line -> line.startsWith(name + " ")).findFirst())
        .map(line -> Long.parseLong(line.substring(name.length() + 1).trim()))
        .orElse(0L);
  }

  private static OptionalLong number(Path file) {
    Optional<String> text = text(file).map(String::trim);
    if (text.isEmpty() || "max".equals(text.get())) {
      return OptionalLong.empty();
    }
    long value = Long.parseLong(text.get());
    return value >= NO_LIMIT ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private static Optional<String> text(Path file) {
    try {
      return Optional.of(Files.readString(file));
    } catch (IOException e) {
      // The root has no such file, and a cgroup may be removed meanwhile.
      return Optional.empty();
    }
  }
}
