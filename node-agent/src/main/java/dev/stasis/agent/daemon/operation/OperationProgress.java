package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.artifact.Progress;
import java.io.IOException;
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
  private final Throughput throughput;
  private final Duration every;
  private long reportedNanos;

  OperationProgress(ActiveOperation operation, OperationRecorder recorder, String step) {
    this.operation = operation;
    this.step = step;
    this.throughput = new Throughput(recorder, step, System::nanoTime);
    this.every = operation.type() == OperationType.VERIFY ? RARELY : EVERY;
    this.reportedNanos = System.nanoTime() - every.toNanos();
  }

  /** Carries the end out of the threads that read or write. */
  private static final class Halted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Job.Stopped stopped;

    Halted(Job.Stopped stopped) {
      super(stopped.getMessage(), null, false, false);
      this.stopped = stopped;
    }
  }

  @Override
  public synchronized void at(long done, long total) {
    try {
      operation.requireTime("during step " + step);
    } catch (Job.Stopped stopped) {
      throw new Halted(stopped);
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
      throw halted.stopped;
    }
  }
}
