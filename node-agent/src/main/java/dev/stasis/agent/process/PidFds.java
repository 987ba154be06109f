package dev.stasis.agent.process;

import com.sun.jna.Native;
import java.time.Duration;
import java.util.Optional;

/** Opens {@link PidFd}s. */
public final class PidFds {

  private final ProcFs proc;
  private final LibC libc;

  public PidFds(ProcFs proc) {
    this.proc = proc;
    this.libc = LibC.INSTANCE;
  }

  /** Empty if the process is gone or another process has its pid. */
  public Optional<PidFd> open(ProcessId process) {
    int fd = (int) libc.syscall(LibC.SYS_PIDFD_OPEN, (long) process.pid(), 0L);
    if (fd < 0) {
      int error = Native.getLastError();
      // EINVAL: the pid is now the number of a thread, so the process is gone.
      if (error == LibC.ESRCH || error == LibC.EINVAL) {
        return Optional.empty();
      }
      throw new IllegalStateException("opening process " + process + ": errno " + error);
    }
    PidFd opened = new PidFd(process, libc, fd);
    // The start time identifies the process only now that the descriptor holds it.
    if (proc.stat(process).isEmpty()) {
      opened.close();
      return Optional.empty();
    }
    return Optional.of(opened);
  }

  /**
   * Waits until a process has ended (a zombie has ended).
   *
   * @return false if it still ran after that time
   */
  public boolean awaitEnd(ProcessId process, Duration atMost) {
    try (PidFd held = open(process).orElse(null)) {
      return held == null || held.awaitEnd(atMost);
    }
  }
}
