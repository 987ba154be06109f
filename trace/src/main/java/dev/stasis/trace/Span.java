package dev.stasis.trace;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Something that took from one moment to another.
 *
 * @param context its name
 * @param parent id of the span that it is a part of
 * @param name what was done
 * @param start when it began
 * @param end when it was over
 * @param attributes what else is known of it
 * @param error why it failed, when it did
 */
public record Span(
    SpanContext context,
    Optional<String> parent,
    String name,
    Instant start,
    Instant end,
    Map<String, String> attributes,
    Optional<String> error) {

  /** Copies. A clock that was set back makes no span of negative length. */
  public Span {
    attributes = Map.copyOf(attributes);
    end = end.isBefore(start) ? start : end;
  }
}
