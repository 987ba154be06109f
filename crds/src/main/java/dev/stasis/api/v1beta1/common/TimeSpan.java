package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Duration;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * A duration such as {@code 90s}, {@code 10m}, {@code 168h} or {@code 1h30m}.
 *
 * @param text the duration as written
 */
public record TimeSpan(@JsonValue String text) {
  /** Hours, minutes and seconds, each at most once and in this order. */
  public static final String PATTERN = "^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,7}s)?$";

  private static final java.util.regex.Pattern PARTS =
      java.util.regex.Pattern.compile("^(?:(\\d{1,5})h)?(?:(\\d{1,5})m)?(?:(\\d{1,7})s)?$");

  /**
   * @throws IllegalArgumentException if the text is not a duration
   */
  public TimeSpan {
    if (text.isEmpty() || !PARTS.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "duration: expected one like 90s, 10m or 168h, got \"" + text + "\"");
    }
  }

  /** Parses a duration. */
  @JsonCreator
  public static TimeSpan of(String text) {
    return new TimeSpan(text);
  }

  /** Returns a duration in whole seconds, at least one. */
  public static TimeSpan of(Duration duration) {
    return new TimeSpan(Math.max(1, duration.toSeconds()) + "s");
  }

  /** Returns the duration. */
  public Duration duration() {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalStateException("validated on creation: " + text);
    }
    return Duration.ofHours(number(parts.group(1)))
        .plusMinutes(number(parts.group(2)))
        .plusSeconds(number(parts.group(3)));
  }

  private static long number(@Nullable String digits) {
    return digits == null ? 0 : Long.parseLong(digits);
  }

  @Override
  public String toString() {
    return text;
  }
}
