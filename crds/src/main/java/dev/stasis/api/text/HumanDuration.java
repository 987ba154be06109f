package dev.stasis.api.text;

import java.time.Duration;
import java.util.Locale;

/**
 * A duration for people.
 *
 * @param duration not negative
 */
public record HumanDuration(Duration duration) {

  /** Returns the duration, such as {@code 120ms}, {@code 14.1s}, {@code 3m20s} or {@code 2h05m}. */
  public String text() {
    long millis = duration.toMillis();
    if (millis < 1000) {
      return millis + "ms";
    }
    // 119.95 s would be printed as 120.0s.
    if (millis < 119_950) {
      return String.format(Locale.ROOT, "%.1fs", millis / 1000.0);
    }
    long seconds = Math.round(millis / 1000.0);
    if (seconds < 3600) {
      return String.format(Locale.ROOT, "%dm%02ds", seconds / 60, seconds % 60);
    }
    return String.format(Locale.ROOT, "%dh%02dm", seconds / 3600, seconds % 3600 / 60);
  }
}
