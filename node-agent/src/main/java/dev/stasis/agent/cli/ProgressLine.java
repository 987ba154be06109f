package dev.stasis.agent.cli;

import dev.stasis.agent.engine.StepListener;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The progress line on a terminal: step, bytes, rate and remaining time. Each update overwrites it.
 */
final class ProgressLine implements StepListener, AutoCloseable {

  /** Users cannot read faster than ten updates a second. */
  private static final long EVERY_NANOS = 100_000_000;

  private static final String CLEAR = "\r\u001b[K";

  private final Console console;
  private final LongSupplier nanoTime;
  private String step = "";
  private long stepBegan;
  private long lastShown;
  private boolean shown;

  ProgressLine(Console console, LongSupplier nanoTime) {
    this.console = console;
    this.nanoTime = nanoTime;
  }

  @Override
  public synchronized void progress(String name, long done, long total) {
    if (!console.errorsOnTerminal()) {
      return;
    }
    long now = nanoTime.getAsLong();
    if (!name.equals(step)) {
      step = name;
      stepBegan = now;
    } else if (now - lastShown < EVERY_NANOS) {
      return;
    }
    lastShown = now;
    console.err().print(CLEAR + text(name, done, total, now - stepBegan));
    console.err().flush();
    shown = true;
  }

  static String text(String step, long done, long total, long nanos) {
    if (done <= 0) {
      return step;
    }
    StringBuilder line = new StringBuilder(step).append("  ").append(new Bytes(done));
    if (total > 0) {
      line.append(" of ").append(new Bytes(total));
      line.append(" (").append(Math.min(100, 100 * done / total)).append(" %)");
    }
    line.append("  ").append(new Bytes(done).perSecond(nanos));
    if (total > done) {
      long left = (long) ((double) nanos / done * (total - done));
      line.append("  ").append(new Span(Duration.ofNanos(left))).append(" left");
    }
    return line.toString();
  }

  /** Removes the line. */
  @Override
  public synchronized void close() {
    if (shown) {
      console.err().print(CLEAR);
      console.err().flush();
    }
  }
}
