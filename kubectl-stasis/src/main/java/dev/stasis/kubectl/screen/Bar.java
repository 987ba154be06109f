package dev.stasis.kubectl.screen;

import java.time.Duration;

/**
 * The progress of an operation.
 *
 * @param done completed bytes
 * @param total bytes in all; 0 while unknown
 * @param bytesPerSecond the rate; 0 while unknown
 */
public record Bar(long done, long total, long bytesPerSecond) {

  /** {@code [#####.....] 51% 4.0Gi/s 12s left}. */
  public String text(int width) {
    if (total <= 0) {
      return "";
    }
    long known = Math.min(done, total);
    int full = (int) (known * width / total);
    StringBuilder text =
        new StringBuilder("[")
            .append("#".repeat(full))
            .append(".".repeat(width - full))
            .append("] ")
            .append(known * 100 / total)
            .append('%');
    if (bytesPerSecond > 0) {
      text.append("  ").append(Words.size(bytesPerSecond)).append("/s");
      if (known < total) {
        text.append("  ")
            .append(Words.span(Duration.ofSeconds((total - known) / bytesPerSecond + 1)))
            .append(" left");
      }
    }
    return text.toString();
  }
}
