package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.ArtifactStage;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The data path of one checkpoint, and where it stores offloaded memory. */
final class Offloading {

  /**
   * Memory that a copy on the GPU leaves for the workload: the driver needs some hundred MiB for
   * its Restore.
   */
  private static final long RESERVE_BYTES = 1L << 30;

  /** A small GPU (a simulated one) reserves an eighth of its memory. */
  private static final long SMALL_GPU_SHARE = 8;

  private final @Nullable ArtifactStage artifact;
  private final ChosenStage stage;
  private final StageListener stages;
  private final Inspected inspected;
  private final Map<ProcessId, Path> saved = new HashMap<>();
  private final Set<ProcessId> staged = new HashSet<>();
  private final Set<Path> growing = new HashSet<>();
  private DataPath path;

  Offloading(
      @Nullable ArtifactStage artifact,
      ChosenStage stage,
      StageListener stages,
      Inspected inspected) {
    this.artifact = artifact;
    this.stage = stage;
    this.stages = stages;
    this.inspected = inspected;
    this.path = inspected.dataPath();
  }

  DataPath path() {
    return path;
  }

  /** The direct path turned out to be impossible before any memory was passed on. */
  void leaveToDriver(String why) {
    path = new DataPath.Driver(why);
  }

  /** Path of the memory written during the freeze, without the suffixes. */
  Path file(int ownPid) {
    Path folder =
        artifact != null && stage.folder().equals(artifact.regionFolder())
            ? artifact.deviceFolder()
            : stage.folder().resolve("device");
    return folder.resolve("" + ownPid);
  }

  /** The content of a process is in host memory, at its file, and needs digests after the thaw. */
  void staged(ProcessId process) {
    staged.add(process);
  }

  boolean inHostMemory() {
    return !staged.isEmpty();
  }

  /** Returns whether copies for the artifact are on the GPU until it is published. */
  boolean onGpu(List<Offloaded> all) {
    return all.stream()
        .map(Offloaded::process)
        .anyMatch(process -> !saved.containsKey(process) && !staged.contains(process));
  }

  /** Path of the memory written after the thaw, without the suffixes. */
  Path fileAfterwards(Offloaded one, Path deviceFolder) {
    return staged.contains(one.process())
        ? file(one.ownPid())
        : deviceFolder.resolve("" + one.ownPid());
  }

  /** Memory of a process was written; the remainder is written after the thaw. */
  void saved(ProcessId process, Path file) {
    saved.put(process, file);
  }

  Map<ProcessId, Path> saved() {
    return saved;
  }

  /**
   * This many bytes from the beginning of a file's data are final. The keeper has written before
   * which regions lie in it, so that the receiver can use the data as it arrives.
   */
  void grew(Path file, long bytes) {
    if (artifact == null || !file.startsWith(artifact.deviceFolder())) {
      return;
    }
    if (growing.add(file)) {
      Path table = file.resolveSibling(file.getFileName() + ".chunks");
      stages.grew(table, table.toFile().length());
    }
    stages.grew(file.resolveSibling(file.getFileName() + ".data"), bytes);
  }

  /** Everything is stored: data in the artifact is final. */
  void done() {
    if (artifact == null) {
      return;
    }
    Path folder = artifact.deviceFolder();
    if (saved.values().stream().anyMatch(file -> file.startsWith(folder))) {
      stages.finished(folder);
    }
  }

  /** Device memory that a copy on the GPU must leave free. */
  long snapshotReserveMib() {
    long smallest =
        inspected.seen().stream().mapToLong(gpu -> gpu.memoryTotal()).min().orElse(RESERVE_BYTES);
    return Math.min(RESERVE_BYTES, smallest / SMALL_GPU_SHARE) >> 20;
  }
}
