package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;

/**
 * A pipe between the workload and the outside, which a restore replaces with the target's own.
 *
 * @param inode the pipe's inode number, as in {@code pipe:[INODE]}
 * @param ends every descriptor of the tree for this pipe
 */
public record StdioPipe(long inode, List<End> ends) {
  public StdioPipe {
    ends = List.copyOf(ends);
  }

  /**
   * One descriptor.
   *
   * @param ownPid the pid of the process in its own namespace
   * @param mode {@code r}, {@code w} or {@code rw}
   */
  public record End(int ownPid, int fd, String mode) {
    public End {
      Objects.requireNonNull(mode, "mode");
    }
  }
}
