package dev.stasis.kubectl.doctor;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;

/** Durations in the format of the API: 90s, 10m, 1h30m. */
final class Spans {

  private Spans() {}

  static Duration of(String text, Duration otherwise) {
    if (text.isEmpty()) {
      return otherwise;
    }
    try {
      return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
    } catch (DateTimeParseException notOne) {
      return otherwise;
    }
  }
}
