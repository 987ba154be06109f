package dev.stasis.agent.container;

/**
 * A pipe with an end outside the process tree, held by the runtime.
 *
 * @param inode the pipe's inode, which is criu's key for it
 * @param fd its lowest descriptor in any process: 0 to 2 for the standard streams
 * @param written true if the tree writes into it, false if it reads
 */
public record OutsidePipe(long inode, int fd, boolean written) {

  public boolean isStandardStream() {
    return fd <= 2;
  }
}
