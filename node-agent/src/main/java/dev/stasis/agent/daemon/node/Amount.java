package dev.stasis.agent.daemon.node;

import java.util.Locale;

/** Bytes as the API writes them for people: {@code 140.4Gi}. */
record Amount(long bytes) {

  private static final String[] UNITS = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

  String text() {
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
}
