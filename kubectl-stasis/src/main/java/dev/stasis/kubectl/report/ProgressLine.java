package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Bar;
import dev.stasis.kubectl.screen.Words;
import java.time.Duration;

/** The state of an object in one line. */
public final class ProgressLine {

  private static final int WIDTH = 24;

  /** With a progress bar while bytes are copied. */
  public String text(Resource object, Duration waited) {
    StringBuilder line = new StringBuilder();
    line.append(object.title()).append("  ").append(new Course(object).phase());
    String step = object.text("status.step");
    if (!step.isEmpty()) {
      line.append(" (").append(step).append(')');
    }
    String bar =
        new Bar(
                object.number("status.doneBytes"),
                object.number("status.totalBytes"),
                object.number("status.bytesPerSecond"))
            .text(WIDTH);
    String reason = object.text("status.reason");
    if (!bar.isEmpty()) {
      line.append("  ").append(bar);
    } else if (!reason.isEmpty()) {
      line.append("  ").append(reason);
    }
    return line.append("  ").append(Words.span(waited)).toString();
  }
}
