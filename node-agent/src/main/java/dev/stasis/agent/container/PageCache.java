package dev.stasis.agent.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel keeps of files on a container's account. It counts as used memory, and a kubelet
 * lowers no limit below what is used.
 */
public final class PageCache {

  private static final System.Logger LOG = System.getLogger(PageCache.class.getName());

  /**
   * Asks the kernel to let go of what was not used lately; comes back when it has tried. What it
   * keeps, it keeps.
   */
  public void drop(Container container) {
    MemoryRoomReader.memoryCgroup(container).ifPresent(PageCache::drop);
  }

  private static void drop(Cgroup cgroup) {
    try {
      if (cgroup.isUnified()) {
        // No more than there is: the rest would be taken from the workload's own memory.
        long unused = MemoryRoomReader.stat(cgroup.folder(), "inactive_file");
        tell(cgroup.folder().resolve("memory.reclaim"), Long.toString(unused));
      } else {
        // The old hierarchy knows all or nothing.
        tell(cgroup.folder().resolve("memory.force_empty"), "0");
      }
    } catch (IOException e) {
      // It answers so when it could not free all of it, and kernels before 5.19 have no such file.
      LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", cgroup.folder(), e.getMessage());
    }
  }

  private static void tell(Path file, String what) throws IOException {
    if (Files.exists(file)) {
      Files.writeString(file, what);
    }
  }
}
