package dev.stasis.local.api;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a request is about.
 *
 * @param prefix {@code /api/v1} or {@code /apis/GROUP/VERSION}
 * @param namespace empty for objects of the cluster, and for all namespaces
 * @param plural the kind, as in paths
 * @param name empty for a list
 * @param subresource such as {@code status}, else empty
 * @param query all after the question mark, else empty
 */
record ObjectPath(
    String prefix, String namespace, String plural, String name, String subresource, String query) {

  private static final Pattern FORM =
      Pattern.compile(
          "(/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/([^/?]+)(?=/))?/([a-z0-9]+)"
              + "(?:/([^/?]+)(?:/([a-z]+))?)?/?(?:\\?(.*))?");

  static Optional<ObjectPath> of(String path) {
    Matcher matcher = FORM.matcher(path);
    return matcher.matches()
        ? Optional.of(
            new ObjectPath(
                matcher.group(1),
                text(matcher, 2),
                text(matcher, 3),
                text(matcher, 4),
                text(matcher, 5),
                text(matcher, 6)))
        : Optional.empty();
  }

  private static String text(Matcher matcher, int group) {
    String text = matcher.group(group);
    return text == null ? "" : text;
  }

  boolean isPod() {
    return prefix.equals("/api/v1") && plural.equals("pods");
  }

  boolean hasQuery(String parameter) {
    return ("&" + query + "&").contains("&" + parameter + "&");
  }

  /** The path of the object itself, without its subresource and query. */
  String object() {
    return prefix
        + (namespace.isEmpty() ? "" : "/namespaces/" + namespace)
        + "/"
        + plural
        + (name.isEmpty() ? "" : "/" + name);
  }
}
