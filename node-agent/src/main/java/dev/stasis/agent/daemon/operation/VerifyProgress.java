package dev.stasis.agent.daemon.operation;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;

/** Says how far the check of an artifact is, and ends it when nobody waits for it any more. */
final class VerifyProgress implements Progress {

  /** As often as it may be written. */
  private static final Duration EVERY = Duration.ofSeconds(1);

  private final Assignment assignment;
  private final Clock clock;
  private final Throughput throughput;
  private long saidNanos = System.nanoTime() - EVERY.toNanos();

  VerifyProgress(Assignment assignment, Desk desk, Clock clock) {
    this.assignment = assignment;
    this.clock = clock;
    this.throughput = new Throughput(desk, "verify", System::nanoTime);
  }

  /** Carries the end out of the threads that read. */
  private static final class Halted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean outOfTime;

    Halted(String message, boolean outOfTime) {
      super(message, null, false, false);
      this.outOfTime = outOfTime;
    }
  }

  @Override
  public synchronized void at(long done, long total) {
    if (assignment.isCancelled()) {
      throw new Halted("cancelled while the artifact was checked", false);
    }
    if (clock.instant().isAfter(assignment.deadline())) {
      throw new Halted("the deadline passed while the artifact was checked", true);
    }
    if (System.nanoTime() - saidNanos >= EVERY.toNanos()) {
      saidNanos = System.nanoTime();
      throughput.say(assignment, done, total);
    }
  }

  /** Says of a check that did not come to its end whether it was halted. */
  void rethrow(IOException failure) throws Stopped {
    if (failure.getCause() instanceof Halted halted) {
      throw new Stopped(String.valueOf(halted.getMessage()), halted.outOfTime);
    }
  }
}
