package dev.stasis.trace;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies a span. The ids are derived from the subject of the span, so that a restart or a
 * repeated report creates no second one: the trace id is the uid of the user's object, without its
 * dashes.
 *
 * @param traceId 32 hexadecimal digits
 * @param spanId 16 hexadecimal digits
 */
public record SpanContext(String traceId, String spanId) {

  private static final int TRACE_DIGITS = 32;
  private static final int SPAN_DIGITS = 16;
  private static final Pattern PARENT =
      Pattern.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}");

  /**
   * Returns the context of the span about {@code what}, in the trace of the object with that uid.
   */
  public static SpanContext of(String uid, String what) {
    String digits = uid.replace("-", "").toLowerCase(java.util.Locale.ROOT);
    String trace = digits.matches("[0-9a-f]{32}") ? digits : digest(uid).substring(0, TRACE_DIGITS);
    return new SpanContext(trace, digest(uid + "/" + what).substring(0, SPAN_DIGITS));
  }

  /** Returns another span of the same trace. */
  public SpanContext child(String what) {
    return new SpanContext(traceId, digest(spanId + "/" + what).substring(0, SPAN_DIGITS));
  }

  /** Formats the W3C traceparent header, with the sampled flag. */
  public String traceparent() {
    return "00-" + traceId + "-" + spanId + "-01";
  }

  /** Parses {@link #traceparent}; empty for anything else. */
  public static Optional<SpanContext> parse(String traceparent) {
    Matcher matcher = PARENT.matcher(traceparent);
    return matcher.matches()
        ? Optional.of(new SpanContext(matcher.group(1), matcher.group(2)))
        : Optional.empty();
  }

  private static String digest(String text) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(sha256.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
