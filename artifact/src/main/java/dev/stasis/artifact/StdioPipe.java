package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;

/**
 * A pipe between the workload and the outside, which the restore replaces by the target's own.
 *
 * @param inode the pipe's inode number, as in {@code pipe:[INODE]}
 * @param ends every descriptor of the tree that is this pipe
 */
public record StdioPipe(long inode, List<End> ends) {
  public StdioPipe {
    ends = List.copyOf(ends);
  }

  /**
   * One descriptor.
   *
   * @param ownPid the pid of the process as the process sees it
   * @param mode {@code r}, {@code w} or {@code rw}
   */
  public record End(int ownPid, int fd, String mode) {
    public End {
      Objects.requireNonNull(mode, "mode");
    }
  }
}
