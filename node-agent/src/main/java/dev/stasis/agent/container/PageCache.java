package dev.stasis.agent.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Page cache charged to a container. It counts as used memory, and a kubelet does not lower a limit
 * below the usage.
 */
public final class PageCache {

  private static final System.Logger LOG = System.getLogger(PageCache.class.getName());

  /**
   * Asks the kernel to reclaim what was not used recently, and returns when it has tried. The
   * kernel may keep some.
   */
  public void drop(Container container) {
    MemoryRoomReader.memoryCgroup(container).ifPresent(PageCache::drop);
  }

  private static void drop(Cgroup cgroup) {
    try {
      if (cgroup.isUnified()) {
        // At most what exists: the kernel would take the remainder from the workload's own memory.
        long unused = MemoryRoomReader.stat(cgroup.folder(), "inactive_file");
        tell(cgroup.folder().resolve("memory.reclaim"), Long.toString(unused));
      } else {
        // cgroup v1 can only reclaim everything.
        tell(cgroup.folder().resolve("memory.force_empty"), "0");
      }
    } catch (IOException e) {
      // The kernel returns this if it could not free all of it, and kernels before 5.19 have no
      // such file.
      LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", cgroup.folder(), e.getMessage());
    }
  }

  private static void tell(Path file, String what) throws IOException {
    if (Files.exists(file)) {
      Files.writeString(file, what);
    }
  }
}
