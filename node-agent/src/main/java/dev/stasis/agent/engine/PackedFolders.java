package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The folders with files to pack.
 *
 * @param upper the workload's changes of its image; null if its root is not an overlay
 * @param root the container's root
 * @param volumes mount points: /dev/shm and the emptyDirs
 */
record PackedFolders(@Nullable Path upper, Path root, List<String> volumes) {

  static PackedFolders of(ProcFs proc, Container container, CheckpointRequest request) {
    return new PackedFolders(
        container.upper().orElse(null),
        proc.folder(container.root().pid()).resolve("root"),
        container.mounts().stream()
            .filter(
                mount ->
                    isSharedMemory(mount) || request.packedMounts().contains(mount.mountPoint()))
            .map(Mount::mountPoint)
            .toList());
  }

  private static boolean isSharedMemory(Mount mount) {
    return mount.mountPoint().equals("/dev/shm") && mount.type().equals("tmpfs");
  }
}
