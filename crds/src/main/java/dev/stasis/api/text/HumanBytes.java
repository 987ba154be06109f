package dev.stasis.api.text;

import java.util.Locale;

/**
 * A number of bytes for people.
 *
 * @param bytes the number, not negative
 */
public record HumanBytes(long bytes) {

  private static final String[] UNITS = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

  /** Returns the number with a binary unit, such as {@code 48.9Gi}. */
  public String text() {
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

  /** Returns the number as a rate, such as {@code 3.1Gi/s}. */
  public String perSecond() {
    return text() + "/s";
  }
}
