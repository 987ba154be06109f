package dev.stasis.agent.tmpfs;

import dev.stasis.agent.container.MemoryRoomReader;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.text.HumanBytes;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Finds stores on a file system in memory. The kernel counts what the agent writes there towards
 * the agent's own memory limit, and ends the agent when the limit is reached.
 *
 * @param limit the agent's memory limit in bytes, if it has one
 */
public record StoreInMemory(OptionalLong limit) {

  private static final Set<String> TYPES = Set.of("tmpfs", "ramfs");

  /** The agent's heap and the programs that it starts need most of the limit. */
  private static final int PART_FOR_FILES = 4;

  /** Reads the limit of this process. */
  public static StoreInMemory ofThisAgent() {
    return new StoreInMemory(
        new MemoryRoomReader(new ProcFs()).limit((int) ProcessHandle.current().pid()));
  }

  /**
   * Returns why the agent cannot write to a folder: the actual file system. Empty for a folder on a
   * disk, for a small file system that is full before the agent reaches its limit, and for an agent
   * without a limit.
   */
  public Optional<String> obstacle(Path folder) throws IOException {
    if (limit.isEmpty()) {
      return Optional.empty();
    }
    FileStore files = Files.getFileStore(folder);
    long size = files.getTotalSpace();
    // A file system without a limit of its own reports 0.
    boolean small = size > 0 && size <= limit.getAsLong() / PART_FOR_FILES;
    return TYPES.contains(files.type()) && !small
        ? Optional.of(
            "%s on %s, which counts towards the agent's memory limit of %s"
                .formatted(folder, files.type(), new HumanBytes(limit.getAsLong()).text()))
        : Optional.empty();
  }

  /** What the folder of a store must be. */
  public static String expected() {
    return "a folder on a disk (or an agent without a memory limit: agent.resources of the chart)";
  }
}
