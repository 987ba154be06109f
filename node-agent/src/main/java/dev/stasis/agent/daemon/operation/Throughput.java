package dev.stasis.agent.daemon.operation;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.text.Percentage;
import java.util.function.LongSupplier;

/** Reports the progress and rate of a transfer. */
final class Throughput {

  private final OperationRecorder recorder;
  private final String step;
  private final LongSupplier nanoTime;
  private long since;
  private long before;

  Throughput(OperationRecorder recorder, String step, LongSupplier nanoTime) {
    this.recorder = recorder;
    this.step = step;
    this.nanoTime = nanoTime;
    this.since = nanoTime.getAsLong();
  }

  /** The bytes so far; a total of 0 means unknown. */
  void report(ActiveOperation operation, long done, long total) {
    long now = nanoTime.getAsLong();
    long rate = now > since ? (long) ((done - before) * 1e9 / (now - since)) : 0;
    since = now;
    before = done;
    recorder.publishProgress(
        operation,
        status -> {
          status.setStep(step);
          status.setDoneBytes(done);
          status.setTotalBytes(total > 0 ? total : null);
          status.setProgress(total > 0 ? new Percentage(done, total).text() : null);
          status.setBytesPerSecond(rate);
          status.setRate(new HumanBytes(rate).text() + "/s");
        });
  }
}
