package dev.stasis.agent.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts our programs, even if a signal is sent to our whole process group, for example by repeated
 * Ctrl-C. Each program moves to its own session in its first line, where no key press reaches it.
 * Before that, a key press ends it (or Java's helper process that becomes it) before it has done
 * anything, and it is started again. A signal mask would not help: newer Java versions clear it in
 * the helper.
 */
public final class ChildStart {

  /** More key presses than a user makes while one program starts. */
  public static final int TRIES = 20;

  /** Of this program, as are its descriptors, which are the reason for it. */
  private static final Spawner SPAWNER = new Spawner();

  /** Exit codes of programs ended by hang-up, Ctrl-C and Ctrl-\. */
  private static final Set<Integer> ENDED_BY_A_KEY = Set.of(128 + 1, 128 + 2, 128 + 3);

  /** Programs start and reach their first line within milliseconds; this is for a busy machine. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final long LOOK_EVERY_NANOS = 1_000_000;

  private final ProcFs proc = new ProcFs();
  private final Duration limit;

  public ChildStart() {
    this(LIMIT);
  }

  ChildStart(Duration limit) {
    this.limit = limit;
  }

  /**
   * Makes this program independent of its stores: from here on, programs are started by a process
   * that has none of its files. Called before a file of a store is opened. Has no effect after the
   * first call.
   *
   * @param runtime the program {@code stasis-runtime}
   */
  public static void prepare(Path runtime) {
    SPAWNER.use(runtime);
  }

  /**
   * Starts the program. A key press may still end it; see {@link #endedByAKey}.
   *
   * @throws IOException if it cannot be started, or not in time; it does not run later
   */
  public Process start(ProcessBuilder program) throws IOException {
    if (SPAWNER.isReady()) {
      return SPAWNER.start(program, limit);
    }
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
   * Starts a program whose first line begins a new session, and waits until it has begun or has
   * exited.
   */
  public Process startAway(ProcessBuilder program) throws IOException {
    Process child = start(program);
    for (int tries = 1; tries < TRIES && !getsAway(child); tries++) {
      child = start(program);
    }
    return child;
  }

  /** Returns whether a key press ended it before its first line, so that it did nothing. */
  public static boolean endedByAKey(int exitCode) {
    return ENDED_BY_A_KEY.contains(exitCode);
  }

  private boolean getsAway(Process child) {
    long until = System.nanoTime() + LIMIT.toNanos();
    while (child.isAlive()) {
      if (leadsASession(child) || System.nanoTime() - until >= 0) {
        return true;
      }
      LockSupport.parkNanos(LOOK_EVERY_NANOS);
    }
    return !endedByAKey(child.exitValue());
  }

  /** Also false for a process that has just ended; Java reports that a moment later. */
  private boolean leadsASession(Process child) {
    int pid = (int) child.pid();
    return proc.stat(pid).filter(stat -> stat.session() == pid).isPresent();
  }
}
