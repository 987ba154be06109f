package dev.stasis.local.kubelet;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Expands {@code $(NAME)} as Kubernetes does: {@code $$} is a dollar, unknown names are kept. */
record Expansion(Map<String, String> variables) {

  private static final Pattern REFERENCE = Pattern.compile("\\$(?:\\$|\\(([^)]*)\\))");

  String of(String text) {
    return REFERENCE
        .matcher(text)
        .replaceAll(
            found -> {
              String name = found.group(1);
              String value = name == null ? "$" : variables.getOrDefault(name, found.group());
              return Matcher.quoteReplacement(value);
            });
  }

  List<String> of(List<String> texts) {
    return texts.stream().map(this::of).toList();
  }
}
