package dev.stasis.agent.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/**
 * Passes the progress of a publication on, to the call in which it runs too.
 *
 * @param sync how long it may make no progress once everything is hashed
 */
record BeatingListener(StepListener listener, StoreCalls.Pulse pulse, Duration sync)
    implements StepListener {

  @Override
  public void progress(String step, long done, long total) {
    try {
      pulse.beat(step.equals("publish") && done >= total ? sync : Duration.ZERO);
    } catch (IOException left) {
      throw new UncheckedIOException(left);
    }
    listener.progress(step, done, total);
  }
}
