package dev.stasis.agent.daemon.operation;

import java.time.Duration;
import java.util.Locale;

/** Numbers as the columns of the API print them. */
final class HumanText {

  private static final String[] UNITS = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

  private HumanText() {}

  /** {@code 48.9Gi}. */
  static String size(long bytes) {
    if (bytes < 1024) {
      return String.valueOf(bytes);
    }
    double value = bytes / 1024.0;
    int unit = 1;
    // 1023.95 would be printed as 1024.0.
    while (value >= 1023.95) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f", value) + UNITS[unit];
  }

  /** {@code 120ms}, {@code 14.1s}, {@code 3m20s}, {@code 2h05m}. */
  static String took(Duration duration) {
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

  /** {@code 63%}; 100% only when nothing is left. */
  static String share(long done, long total) {
    return total <= 0 ? "0%" : (long) Math.floor(Math.min(done, total) * 100.0 / total) + "%";
  }
}
