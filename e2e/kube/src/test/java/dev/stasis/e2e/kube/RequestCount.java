package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Requests that the API server has answered, by the metric {@code apiserver_request_total}.
 *
 * @param byKind their number by verb and resource
 */
record RequestCount(Map<String, Long> byKind) {

  private static final Pattern LINE =
      Pattern.compile("apiserver_request_total\\{(.*)} ([0-9.e+]+)", Pattern.CASE_INSENSITIVE);

  private static final Pattern LABEL = Pattern.compile("(verb|resource|subresource)=\"([^\"]*)\"");

  /** Returns the requests since the API server's start. */
  static RequestCount now(KubernetesClient admin) {
    Map<String, Long> found = new TreeMap<>();
    for (String line : admin.raw("/metrics").split("\n")) {
      Matcher matcher = LINE.matcher(line);
      if (matcher.matches()) {
        found.merge(kind(matcher.group(1)), (long) Double.parseDouble(matcher.group(2)), Long::sum);
      }
    }
    return new RequestCount(found);
  }

  private static String kind(String labels) {
    Map<String, String> values = new TreeMap<>();
    Matcher label = LABEL.matcher(labels);
    while (label.find()) {
      values.put(label.group(1), label.group(2));
    }
    String part = values.getOrDefault("subresource", "");
    return values.getOrDefault("verb", "")
        + " "
        + values.getOrDefault("resource", "")
        + (part.isEmpty() ? "" : "/" + part);
  }

  /** Returns the number of requests of each kind since an earlier count, without unchanged ones. */
  Map<String, Long> since(RequestCount earlier) {
    Map<String, Long> more = new TreeMap<>();
    byKind.forEach(
        (kind, count) -> {
          long added = count - earlier.byKind.getOrDefault(kind, 0L);
          if (added > 0) {
            more.put(kind, added);
          }
        });
    return more;
  }
}
