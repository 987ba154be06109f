package dev.stasis.agent.cli;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A duration in human-readable form. */
record Span(Duration length) {

  private static final Pattern PART = Pattern.compile("([0-9]{1,9})(ms|s|m|h)");

  /** {@code 500ms}, {@code 90s}, {@code 10m}, {@code 1h30m}. */
  static final class Converter implements ITypeConverter<Span> {
    @Override
    public Span convert(String text) {
      Matcher part = PART.matcher(text);
      Duration length = Duration.ZERO;
      int end = 0;
      while (part.find() && part.start() == end) {
        long number = Long.parseLong(part.group(1));
        length =
            length.plus(
                switch (part.group(2)) {
                  case "ms" -> Duration.ofMillis(number);
                  case "s" -> Duration.ofSeconds(number);
                  case "m" -> Duration.ofMinutes(number);
                  default -> Duration.ofHours(number);
                });
        end = part.end();
      }
      if (end != text.length() || length.isZero()) {
        throw new TypeConversionException(
            "expected a time above 0 like 500ms, 90s, 10m or 1h30m, got \"" + text + "\"");
      }
      return new Span(length);
    }
  }

  @Override
  public String toString() {
    long millis = length.toMillis();
    if (millis < 1000) {
      return millis + " ms";
    }
    if (millis < 120_000) {
      return String.format(Locale.ROOT, "%.2f s", millis / 1000.0);
    }
    long minutes = length.toMinutes();
    if (minutes < 120) {
      return minutes + " min";
    }
    return length.toHours() < 48 ? length.toHours() + " h" : length.toDays() + " days";
  }
}
