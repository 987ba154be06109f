package dev.stasis.operator.selector;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A label selector.
 *
 * @param selector an empty one matches everything
 */
public record Selector(LabelSelector selector) {

  /**
   * Returns whether labels match.
   *
   * @throws IllegalArgumentException names an unknown operator
   */
  public boolean matches(@Nullable Map<String, String> labels) {
    Map<String, String> has = Objects.requireNonNullElse(labels, Map.of());
    Map<String, String> equal = Objects.requireNonNullElse(selector.getMatchLabels(), Map.of());
    List<LabelSelectorRequirement> expressions =
        Objects.requireNonNullElse(selector.getMatchExpressions(), List.of());
    return equal.entrySet().stream()
            .allMatch(entry -> entry.getValue().equals(has.get(entry.getKey())))
        && expressions.stream().allMatch(expression -> matches(expression, has));
  }

  private static boolean matches(LabelSelectorRequirement wanted, Map<String, String> has) {
    String value = has.get(wanted.getKey());
    List<String> values = Objects.requireNonNullElse(wanted.getValues(), List.of());
    return switch (wanted.getOperator()) {
      case "In" -> value != null && values.contains(value);
      case "NotIn" -> value == null || !values.contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      default ->
          throw new IllegalArgumentException(
              "selector.matchExpressions["
                  + wanted.getKey()
                  + "].operator: expected In, NotIn, Exists or DoesNotExist, got "
                  + wanted.getOperator());
    };
  }
}
