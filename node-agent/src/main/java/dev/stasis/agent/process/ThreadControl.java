package dev.stasis.agent.process;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Changes {@link ThreadSettings}. A thread is identified only by its number, so it must be stopped.
 */
public final class ThreadControl {

  private final ProcFs proc;
  private final LibC libc = LibC.INSTANCE;

  public ThreadControl(ProcFs proc) {
    this.proc = proc;
  }

  /** Restricts the thread to these processors. */
  public void pin(int tid, CpuSet cpus) throws IOException {
    byte[] mask = cpus.mask();
    if (libc.sched_setaffinity(tid, mask.length, mask) != 0) {
      throw new IOException(
          "thread %d on processors %s: errno %d".formatted(tid, cpus, Native.getLastError()));
    }
  }

  public void timerSlack(int tid, long nanos) throws IOException {
    Path file = proc.folder(tid).resolve("timerslack_ns");
    Files.writeString(file, Long.toString(nanos));
  }
}
