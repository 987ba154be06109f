package dev.stasis.agent.engine;

import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The processes with open device files of a GPU while the CUDA processes are checkpointed, and have
 * released them.
 *
 * <p>A child forked from a CUDA process keeps descriptors and mappings (PyTorch's DataLoader
 * workers, seen on an H100 with driver 580). CUDA refuses all its calls, so they are unusable, and
 * are restored as empty ones. A process that opened a device itself uses it: with drivers before
 * 580 one that monitors the GPU by NVML, or one that has just begun to use CUDA. It has no mapping
 * of a device, or the driver's library is at another address than in its ancestor, because it
 * executed its own program.
 */
final class DeviceHolders {

  private static final String DEVICES = "/dev/nvidia";

  private final ProcFs proc;
  private final List<ProcessId> cuda;

  /**
   * @param cuda the processes that are checkpointed
   */
  DeviceHolders(ProcFs proc, List<ProcessId> cuda) {
    this.proc = proc;
    this.cuda = List.copyOf(cuda);
  }

  /** Returns the processes that use a device: the property, the expected and the actual value. */
  Optional<String> live(List<ProcessStat> members) {
    Map<Integer, ProcessStat> byPid = new HashMap<>();
    members.forEach(member -> byPid.put(member.pid(), member));
    for (ProcessStat member : members) {
      Optional<String> held = member.isZombie() ? Optional.empty() : held(member.pid());
      if (held.isPresent() && !isDead(member, byPid) && !isEnding(member)) {
        return Optional.of(
            ("open files after the GPU checkpoint: expected GPU devices only in forked children"
                    + " of a CUDA process, got %s of process %s (%s), which the driver does not"
                    + " report as a CUDA process")
                .formatted(held.get(), member.id(), member.comm()));
      }
    }
    return Optional.empty();
  }

  /** Returns whether any process has a device open. */
  boolean any(List<ProcessStat> members) {
    return members.stream().anyMatch(member -> held(member.pid()).isPresent());
  }

  private Optional<String> held(int pid) {
    for (OpenFile file : proc.openFiles(pid)) {
      if (file.target().startsWith(DEVICES)) {
        return Optional.of(file.target() + " as descriptor " + file.fd());
      }
    }
    return proc.maps(pid).stream()
        .filter(mapping -> mapping.path().startsWith(DEVICES))
        .findFirst()
        .map(mapping -> "a mapping of " + mapping.path());
  }

  private boolean isDead(ProcessStat member, Map<Integer, ProcessStat> byPid) {
    if (cuda.contains(member.id())) {
      return false;
    }
    List<MemoryMapping> maps = proc.maps(member.pid());
    OptionalLong library = library(maps);
    if (library.isEmpty() || maps.stream().noneMatch(it -> it.path().startsWith(DEVICES))) {
      return false;
    }
    // A restored tree has the same parents.
    ProcessStat above = byPid.get(member.ppid());
    for (int i = 0; above != null && i <= byPid.size(); i++) {
      if (cuda.contains(above.id())) {
        return library(proc.maps(above.pid())).equals(library);
      }
      above = byPid.get(above.ppid());
    }
    return false;
  }

  /** A process that ends has no memory any more, but open files for a moment. */
  private boolean isEnding(ProcessStat member) {
    return proc.maps(member.pid()).isEmpty();
  }

  private static OptionalLong library(List<MemoryMapping> maps) {
    return maps.stream()
        .filter(mapping -> mapping.path().contains("libcuda.so"))
        .mapToLong(MemoryMapping::start)
        .min();
  }
}
