package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;

/**
 * Reports how far an operation has read or written an artifact, and ends it when the operation is
 * cancelled or its deadline has passed.
 */
final class OperationProgress implements Progress {

  /** As often as it may be written. */
  private static final Duration EVERY = Duration.ofSeconds(1);

  /** No user waits for a verification, and many agents verify at a time. */
  private static final Duration RARELY = Duration.ofMinutes(1);

  private final ActiveOperation operation;
  private final String step;
  private final Clock clock;
  private final Throughput throughput;
  private final Duration every;
  private long reportedNanos;

  /**
   * @param step the step to report
   */
  OperationProgress(
      ActiveOperation operation, OperationRecorder recorder, String step, Clock clock) {
    this.operation = operation;
    this.step = step;
    this.clock = clock;
    this.throughput = new Throughput(recorder, step, System::nanoTime);
    this.every = operation.type() == OperationType.VERIFY ? RARELY : EVERY;
    this.reportedNanos = System.nanoTime() - every.toNanos();
  }

  /** Carries the end out of the threads that read or write. */
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
    if (operation.isCancelled()) {
      throw new Halted("cancelled during step " + step, false);
    }
    if (clock.instant().isAfter(operation.deadline())) {
      throw new Halted("the deadline passed during step " + step, true);
    }
    if (System.nanoTime() - reportedNanos >= every.toNanos()) {
      reportedNanos = System.nanoTime();
      throughput.report(operation, done, total);
    }
  }

  /** Throws what ended the work if this did: itself, or as the cause of a failure. */
  void rethrow(Exception failure) throws Job.Stopped {
    Throwable cause = failure instanceof IOException ? failure.getCause() : failure;
    if (cause instanceof Halted halted) {
      throw new Job.Stopped(String.valueOf(halted.getMessage()), halted.outOfTime);
    }
  }
}
