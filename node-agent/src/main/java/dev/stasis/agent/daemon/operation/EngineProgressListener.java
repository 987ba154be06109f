package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.text.Percentage;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Reports the engine's progress in the status of the operation. Never blocks. */
final class EngineProgressListener implements StepListener {

  /**
   * The step that freezes: on the direct path its gates are closed long before the driver's lock.
   */
  private static final String FIRST_STEP = "offload";

  /** A rate over a shorter time varies too much to show. */
  private static final long RATE_NANOS = 1_000_000_000L;

  private final ActiveOperation operation;
  private final OperationRecorder recorder;
  private final Runnable stopped;
  private final Runnable resumed;
  private final LongSupplier nanoTime;
  private volatile Consumer<String> undone = why -> {};
  private String step = "";
  private long rateSince;
  private long rateDone;

  EngineProgressListener(ActiveOperation operation, OperationRecorder recorder) {
    this(operation, recorder, () -> {}, () -> {}, System::nanoTime);
  }

  /**
   * For a freeze.
   *
   * @param stopped called when the processes are stopped
   * @param resumed called when the workload runs before its artifact is published
   */
  EngineProgressListener(
      ActiveOperation operation,
      OperationRecorder recorder,
      Runnable stopped,
      Runnable resumed,
      LongSupplier nanoTime) {
    this.operation = operation;
    this.recorder = recorder;
    this.stopped = stopped;
    this.resumed = resumed;
    this.nanoTime = nanoTime;
  }

  @Override
  public synchronized void progress(String now, long done, long total) {
    long nanos = nanoTime.getAsLong();
    if (!now.equals(step)) {
      if (step.equals("stop")) {
        stopped.run();
      }
      step = now;
      rateSince = nanos;
      rateDone = done;
      began(now);
    }
    if (done > rateDone && nanos - rateSince >= RATE_NANOS) {
      long rate = (done - rateDone) * 1_000_000_000L / (nanos - rateSince);
      operation.change(
          status -> {
            status.setBytesPerSecond(rate);
            status.setRate(new HumanBytes(rate).text() + "/s");
          });
      rateSince = nanos;
      rateDone = done;
    }
    recorder.publishProgress(
        operation,
        status -> {
          status.setStep(now);
          status.setDoneBytes(total > 0 ? done : null);
          status.setTotalBytes(total > 0 ? total : null);
          status.setProgress(total > 0 ? new Percentage(done, total).text() : null);
          if (total <= 0) {
            status.setBytesPerSecond(null);
            status.setRate(null);
          }
        });
  }

  private void began(String now) {
    operation.begins(now);
    if (now.equals(FIRST_STEP) && operation.spec().getFreeze() != null) {
      // The journal's next record contains it, because a successor reports the same time.
      recorder.publish(
          operation,
          status -> {
            status.setWorkload(WorkloadState.FROZEN);
            status.setFrozenTime(operation.now());
            status.setSourceRunning(ConditionValue.FALSE);
          });
    }
  }

  @Override
  public void publishing() {
    recorder.publish(
        operation,
        status -> {
          status.setWorkload(WorkloadState.RUNNING);
          status.setSourceRunning(ConditionValue.TRUE);
        });
    resumed.run();
  }

  @Override
  public Optional<JsonNode> operation() {
    return operation.isJournaled() ? Optional.of(operation.description()) : Optional.empty();
  }

  @Override
  public void undoing(String why) {
    undone.accept(why);
    operation.change(status -> status.setMessage("undone: " + why));
    recorder.enter(operation, OperationPhase.UNDOING);
  }

  /** Reports the reason of an undo here too. */
  void whenUndone(Consumer<String> reported) {
    undone = reported;
  }
}
