package dev.stasis.trace;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A timed activity.
 *
 * @param context its identity
 * @param parent span id of the enclosing span
 * @param name the activity
 * @param start its start time
 * @param end its end time
 * @param attributes further facts
 * @param error the reason of a failure, if it failed
 */
public record Span(
    SpanContext context,
    Optional<String> parent,
    String name,
    Instant start,
    Instant end,
    Map<String, String> attributes,
    Optional<String> error) {

  /** Copies the values. A clock that was set back must not cause a negative duration. */
  public Span {
    attributes = Map.copyOf(attributes);
    end = end.isBefore(start) ? start : end;
  }
}
