package dev.stasis.kubectl.screen;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** Times and sizes in human-readable form. */
public final class Words {

  private static final long SECONDS_IN_MINUTES_UNTIL = 120;
  private static final long MINUTES_UNTIL_HOURS = 180;
  private static final long HOURS_UNTIL_DAYS = 48;
  private static final double STEP = 1024;

  private Words() {}

  /** Formats an age as kubectl does: 45s, 12m, 5h, 9d; empty if unknown. */
  public static String age(Optional<Instant> since, Instant now) {
    return since.map(from -> span(Duration.between(from, now))).orElse("");
  }

  /** The same for a duration; never negative. */
  public static String span(Duration time) {
    long seconds = Math.max(0, time.toSeconds());
    if (seconds < SECONDS_IN_MINUTES_UNTIL) {
      return seconds + "s";
    }
    long minutes = seconds / 60;
    if (minutes < MINUTES_UNTIL_HOURS) {
      return minutes + "m";
    }
    long hours = minutes / 60;
    return hours < HOURS_UNTIL_DAYS ? hours + "h" : hours / 24 + "d";
  }

  /** 48.9Gi; empty for zero. */
  public static String size(long bytes) {
    if (bytes <= 0) {
      return "";
    }
    String[] units = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    double value = bytes;
    int unit = 0;
    while (value >= STEP && unit < units.length - 1) {
      value /= STEP;
      unit++;
    }
    return unit == 0 ? bytes + "" : String.format(Locale.ROOT, "%.1f%s", value, units[unit]);
  }
}
