package dev.stasis.agent.process;

/**
 * A process or a thread as its {@code stat} file gives it.
 *
 * @param pid the process, or the thread where a thread's file was read
 * @param comm its name, at most 15 bytes, which may hold any byte: spaces, brackets, newlines
 * @param state R running, S sleeping, D uninterruptible, T stopped, t stopped by a tracer, Z
 *     zombie, X dead, I idle kernel thread
 * @param ppid the parent, 0 for the first process
 * @param session the session's leader
 * @param ttyNumber the controlling terminal's device number, 0 for none
 * @param flags the kernel's PF_ flags
 * @param cpuTicks user and system time, in clock ticks
 * @param threads how many threads the process has
 * @param startTime clock ticks between boot and start
 * @param virtualBytes size of the address space, 0 for a kernel thread and for a zombie
 */
public record ProcessStat(
    int pid,
    String comm,
    char state,
    int ppid,
    int processGroup,
    int session,
    int ttyNumber,
    long flags,
    long cpuTicks,
    int threads,
    long startTime,
    long virtualBytes) {

  private static final long PF_KTHREAD = 0x00200000;
  private static final long PF_EXITING = 0x00000004;
  private static final long PF_DUMPCORE = 0x00000200;
  private static final long PF_SIGNALED = 0x00000400;

  public ProcessId id() {
    return new ProcessId(pid, startTime);
  }

  /** Dead, but its parent has not yet asked for its end: it has no memory and runs nothing. */
  public boolean isZombie() {
    // With threads left it is only the main thread that has ended.
    return (state == 'Z' || state == 'X') && threads <= 1;
  }

  /** On its way to its end, by itself or by a signal: its memory may still be there. */
  public boolean isEnding() {
    return (flags & (PF_EXITING | PF_DUMPCORE | PF_SIGNALED)) != 0;
  }

  /** A signal ends it, or has ended it. */
  public boolean isSignaled() {
    return (flags & (PF_DUMPCORE | PF_SIGNALED)) != 0;
  }

  /** A thread of the kernel itself, without memory of its own. */
  public boolean isKernelThread() {
    return (flags & PF_KTHREAD) != 0;
  }

  /** Stopped by a signal; a stop by a tracer is not meant. */
  public boolean isStopped() {
    return state == 'T';
  }

  static ProcessStat parse(String text) {
    // The name stands in brackets and may itself hold brackets: only the last one closes it.
    int open = text.indexOf('(');
    int close = text.lastIndexOf(')');
    if (open < 1 || close < open) {
      throw new IllegalArgumentException("stat: wanted PID (NAME) STATE ..., found " + text);
    }
    String[] field = text.substring(close + 2).trim().split(" ");
    if (field.length < 21) {
      throw new IllegalArgumentException(
          "stat: wanted at least 23 fields, found " + (field.length + 2));
    }
    return new ProcessStat(
        Integer.parseInt(text.substring(0, open).trim()),
        text.substring(open + 1, close),
        field[0].charAt(0),
        Integer.parseInt(field[1]),
        Integer.parseInt(field[2]),
        Integer.parseInt(field[3]),
        Integer.parseInt(field[4]),
        Long.parseLong(field[6]),
        Long.parseLong(field[11]) + Long.parseLong(field[12]),
        Integer.parseInt(field[17]),
        Long.parseLong(field[19]),
        Long.parseUnsignedLong(field[20]));
  }
}
