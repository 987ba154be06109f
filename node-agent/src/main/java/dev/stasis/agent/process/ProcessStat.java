package dev.stasis.agent.process;

/**
 * A process or a thread, from its {@code stat} file.
 *
 * @param pid the process, or the thread if a thread's file was read
 * @param comm its name, at most 15 bytes, which may contain any byte: spaces, brackets, newlines
 * @param state R running, S sleeping, D uninterruptible, T stopped, t stopped by a tracer, Z
 *     zombie, X dead, I idle kernel thread
 * @param ppid the parent, 0 for the first process
 * @param session the session's leader
 * @param ttyNumber the controlling terminal's device number, 0 for none
 * @param flags the kernel's PF_ flags
 * @param cpuTicks user and system time, in clock ticks
 * @param threads how many threads the process has
 * @param startTime clock ticks between boot and start
 * @param stackStart where the stack of its program begins, which is elsewhere for each program that
 *     it executes; 0 if it has none any more, and where it may not be read
 * @param waitStatus how it ended, as for {@code waitpid}; 0 while it runs, and where it may not be
 *     read
 */
public record ProcessStat(
    int pid,
    String comm,
    char state,
    int ppid,
    int session,
    int ttyNumber,
    long flags,
    long cpuTicks,
    int threads,
    long startTime,
    long stackStart,
    int waitStatus) {

  private static final long PF_KTHREAD = 0x00200000;
  private static final long PF_IO_WORKER = 0x00000010;
  private static final long PF_EXITING = 0x00000004;
  private static final long PF_DUMPCORE = 0x00000200;
  private static final long PF_SIGNALED = 0x00000400;

  public ProcessId id() {
    return new ProcessId(pid, startTime);
  }

  /** Ended, but not yet reaped by its parent: it has no memory and runs no code. */
  public boolean isZombie() {
    // If threads are left, only the main thread has ended.
    return (state == 'Z' || state == 'X') && threads <= 1;
  }

  /** Ending, by itself or by a signal; its memory may still exist. */
  public boolean isEnding() {
    return (flags & (PF_EXITING | PF_DUMPCORE | PF_SIGNALED)) != 0;
  }

  /** A signal is ending it, or has ended it. */
  public boolean isSignaled() {
    return (flags & (PF_DUMPCORE | PF_SIGNALED)) != 0;
  }

  /** Returns how a zombie ended: its signal, or its exit code. */
  public String ending() {
    int signal = waitStatus & 0x7f;
    return signal == 0 ? "exit code " + (waitStatus >> 8 & 0xff) : "signal " + signal;
  }

  /** A kernel thread, without its own memory. */
  public boolean isKernelThread() {
    return (flags & PF_KTHREAD) != 0;
  }

  /** A kernel thread that works for an io_uring; it runs none of the program's code. */
  public boolean isIoWorker() {
    return (flags & PF_IO_WORKER) != 0;
  }

  /** Stopped by a signal; a stop by a tracer does not count. */
  public boolean isStopped() {
    return state == 'T';
  }

  static ProcessStat parse(String text) {
    // The name is in brackets and may contain brackets itself: only the last one closes it.
    int open = text.indexOf('(');
    int close = text.lastIndexOf(')');
    if (open < 1 || close < open) {
      throw new IllegalArgumentException("stat: expected PID (NAME) STATE ..., got " + text);
    }
    String[] field = text.substring(close + 2).trim().split(" ");
    if (field.length < 20) {
      throw new IllegalArgumentException(
          "stat: expected at least 22 fields, got " + (field.length + 2));
    }
    return new ProcessStat(
        Integer.parseInt(text.substring(0, open).trim()),
        text.substring(open + 1, close),
        field[0].charAt(0),
        Integer.parseInt(field[1]),
        Integer.parseInt(field[3]),
        Integer.parseInt(field[4]),
        Long.parseLong(field[6]),
        Long.parseLong(field[11]) + Long.parseLong(field[12]),
        Integer.parseInt(field[17]),
        Long.parseLong(field[19]),
        field.length > 25 ? Long.parseLong(field[25]) : 0,
        field.length > 49 ? Integer.parseInt(field[49]) : 0);
  }
}
