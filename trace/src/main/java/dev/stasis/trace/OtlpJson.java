package dev.stasis.trace;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Formats spans as OTLP 1.0 JSON. */
final class OtlpJson {

  /** SPAN_KIND_INTERNAL. */
  private static final int INTERNAL = 1;

  private static final int STATUS_OK = 1;
  private static final int STATUS_ERROR = 2;
  private static final int FIRST_PRINTABLE = 0x20;

  private final String resource;

  /** For a program with these attributes. */
  OtlpJson(Map<String, String> resource) {
    this.resource = attributes(resource);
  }

  String of(List<Span> spans) {
    return "{\"resourceSpans\":[{\"resource\":{\"attributes\":"
        + resource
        + "},\"scopeSpans\":[{\"scope\":{\"name\":\"dev.stasis\"},\"spans\":["
        + spans.stream().map(OtlpJson::one).collect(Collectors.joining(","))
        + "]}]}]}";
  }

  private static String one(Span span) {
    return "{\"traceId\":"
        + text(span.context().traceId())
        + ",\"spanId\":"
        + text(span.context().spanId())
        + span.parent().map(parent -> ",\"parentSpanId\":" + text(parent)).orElse("")
        + ",\"name\":"
        + text(span.name())
        + ",\"kind\":"
        + INTERNAL
        + ",\"startTimeUnixNano\":"
        + text(nanos(span.start()))
        + ",\"endTimeUnixNano\":"
        + text(nanos(span.end()))
        + ",\"attributes\":"
        + attributes(span.attributes())
        + ",\"status\":"
        + span.error()
            .map(why -> "{\"code\":" + STATUS_ERROR + ",\"message\":" + text(why) + "}")
            .orElse("{\"code\":" + STATUS_OK + "}")
        + "}";
  }

  private static String nanos(Instant at) {
    return Long.toString(TimeUnit.SECONDS.toNanos(at.getEpochSecond()) + at.getNano());
  }

  private static String attributes(Map<String, String> attributes) {
    return new TreeMap<>(attributes)
        .entrySet().stream()
            .map(
                one ->
                    "{\"key\":"
                        + text(one.getKey())
                        + ",\"value\":{\"stringValue\":"
                        + text(one.getValue())
                        + "}}")
            .collect(Collectors.joining(",", "[", "]"));
  }

  private static String text(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (char each : value.toCharArray()) {
      if (each == '"' || each == '\\') {
        text.append('\\').append(each);
      } else if (each < FIRST_PRINTABLE) {
        text.append("\\u%04x".formatted((int) each));
      } else {
        text.append(each);
      }
    }
    return text.append('"').toString();
  }
}
