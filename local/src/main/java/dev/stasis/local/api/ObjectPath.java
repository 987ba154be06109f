package dev.stasis.local.api;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The object of a request.
 *
 * @param prefix {@code /api/v1} or {@code /apis/GROUP/VERSION}
 * @param namespace empty for cluster-scoped objects, and for all namespaces
 * @param plural the plural name of the kind, as in paths
 * @param name empty for a list
 * @param subresource such as {@code status}; empty for none
 * @param query the part after the question mark; empty for none
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

  /** Returns the path of the object itself, without subresource and query. */
  String object() {
    return prefix
        + (namespace.isEmpty() ? "" : "/namespaces/" + namespace)
        + "/"
        + plural
        + (name.isEmpty() ? "" : "/" + name);
  }
}
