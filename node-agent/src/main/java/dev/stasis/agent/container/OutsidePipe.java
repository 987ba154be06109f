package dev.stasis.agent.container;

/**
 * A pipe that leads out of the process tree: its other end is held by the runtime.
 *
 * @param inode the pipe's inode, criu's key for it
 * @param fd the lowest descriptor that any process has of it: 0 to 2 for the standard streams
 * @param written whether the tree writes into it; else it reads
 */
public record OutsidePipe(long inode, int fd, boolean written) {

  public boolean isStandardStream() {
    return fd <= 2;
  }
}
