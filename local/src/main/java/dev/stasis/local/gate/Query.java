package dev.stasis.local.gate;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The query of a request. */
record Query(Map<String, String> values) {

  static Query of(@Nullable String raw) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String part : raw == null ? new String[0] : raw.split("&")) {
      int equals = part.indexOf('=');
      if (equals > 0) {
        values.put(
            part.substring(0, equals),
            URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
      }
    }
    return new Query(values);
  }

  String get(String name) {
    return values.getOrDefault(name, "");
  }

  boolean is(String name) {
    return get(name).equals("true") || get(name).equals("1");
  }

  /** Returns a copy without one of the parameters, in URL form. */
  String without(String name) {
    StringBuilder text = new StringBuilder();
    values.forEach(
        (key, value) -> {
          if (!key.equals(name)) {
            text.append(text.isEmpty() ? '?' : '&')
                .append(key)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8));
          }
        });
    return text.toString();
  }

  /** Returns the name in a field selector; empty if there is none. */
  String name() {
    String selector = get("fieldSelector");
    return selector.startsWith("metadata.name=")
        ? selector.substring("metadata.name=".length())
        : "";
  }
}
