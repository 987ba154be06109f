package dev.stasis.agent.process;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts programs of ours although somebody sends signals to our whole process group, as an
 * impatient Ctrl-C does. Each of them leaves our session, where no key reaches it, but not before
 * its first line; until then a key ends it, or Java's helper that becomes it, and nothing was done:
 * it is started again. A mask of signals would not help: newer Javas clear it in the helper.
 */
public final class ChildStart {

  /** A person does not press keys that often while one program starts. */
  public static final int TRIES = 20;

  /** Codes of programs that hang-up, Ctrl-C and Ctrl-\ ended. */
  private static final Set<Integer> ENDED_BY_A_KEY = Set.of(128 + 1, 128 + 2, 128 + 3);

  /** To the first line it takes milliseconds; a busy machine is given time. */
  private static final Duration TO_THE_FIRST_LINE = Duration.ofSeconds(30);

  private static final long LOOK_EVERY_NANOS = 1_000_000;

  private final ProcFs proc = new ProcFs();

  /** Starts it; a key may still end it, as {@link #endedByAKey} tells. */
  public Process start(ProcessBuilder program) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        return program.start();
      } catch (IOException e) {
        if (tries == TRIES || !String.valueOf(e.getMessage()).contains("exec spawn helper")) {
          throw e;
        }
      }
    }
  }

  /**
   * Starts a program whose first line begins a session of its own, and waits until it has begun, or
   * has ended by itself.
   */
  public Process startAway(ProcessBuilder program) throws IOException {
    Process child = start(program);
    for (int tries = 1; tries < TRIES && !getsAway(child); tries++) {
      child = start(program);
    }
    return child;
  }

  /** Whether a key ended it: before its first line, so that nothing was done. */
  public static boolean endedByAKey(int exitCode) {
    return ENDED_BY_A_KEY.contains(exitCode);
  }

  private boolean getsAway(Process child) {
    long until = System.nanoTime() + TO_THE_FIRST_LINE.toNanos();
    while (child.isAlive()) {
      if (leadsASession(child) || System.nanoTime() - until >= 0) {
        return true;
      }
      LockSupport.parkNanos(LOOK_EVERY_NANOS);
    }
    return !endedByAKey(child.exitValue());
  }

  /** False also of one that has just ended: Java then says so in a moment. */
  private boolean leadsASession(Process child) {
    int pid = (int) child.pid();
    return proc.stat(pid).filter(stat -> stat.session() == pid).isPresent();
  }
}
