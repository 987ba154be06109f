package dev.stasis.agent.cli;

import java.util.Locale;

/** A number of bytes in human-readable form. */
record Bytes(long count) {

  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  /** Returns the rate of moving these bytes in that many nanoseconds. */
  String perSecond(long nanos) {
    return nanos <= 0 ? "-" : String.format(Locale.ROOT, "%.2f GB/s", (double) count / nanos);
  }

  @Override
  public String toString() {
    double value = count;
    int unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return unit == 0 ? count + " B" : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
  }
}
