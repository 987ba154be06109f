package dev.stasis.agent.process;

import com.sun.jna.Native;
import java.time.Duration;

/**
 * A handle of one process. While it is open, a signal reaches this process or none, even if another
 * process has its pid by now.
 */
public final class PidFd implements AutoCloseable {

  private static final short POLLIN = 1;

  private final ProcessId process;
  private final LibC libc;
  private final int fd;

  PidFd(ProcessId process, LibC libc, int fd) {
    this.process = process;
    this.libc = libc;
    this.fd = fd;
  }

  /**
   * Sends a signal.
   *
   * @return false if the process has ended and was reaped
   */
  public boolean send(Signal signal) {
    if (libc.syscall(LibC.SYS_PIDFD_SEND_SIGNAL, (long) fd, (long) signal.number(), 0L, 0L) == 0) {
      return true;
    }
    int error = Native.getLastError();
    if (error == LibC.ESRCH) {
      return false;
    }
    throw new IllegalStateException(
        "sending " + signal + " to " + process + " failed with errno " + error);
  }

  /**
   * Waits until the process has ended (a zombie has ended).
   *
   * @return false if it still ran after that time
   */
  public boolean awaitEnd(Duration atMost) {
    long until = System.nanoTime() + atMost.toNanos();
    LibC.PollFd descriptor = new LibC.PollFd();
    descriptor.fd = fd;
    descriptor.events = POLLIN;
    while (true) {
      long left = Math.max(0, (until - System.nanoTime()) / 1_000_000);
      int ready = libc.poll(descriptor, 1, (int) Math.min(left, Integer.MAX_VALUE));
      if (ready > 0) {
        return true;
      }
      if (ready == 0) {
        return false;
      }
      int error = Native.getLastError();
      if (error != LibC.EINTR) {
        throw new IllegalStateException("waiting for " + process + " failed with errno " + error);
      }
    }
  }

  @Override
  public void close() {
    libc.close(fd);
  }
}
