package dev.stasis.api.crds;

import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Limits of what users may write where annotations do not reach: items of lists, values of maps,
 * and Kubernetes' own label selector. All objects of all users are in the operator's memory.
 */
final class SpecLimits {

  /** Of Kubernetes: a prefix that is a DNS name, a slash, and a name. */
  private static final long LABEL_KEY = 253 + 1 + 63;

  private static final long LABEL_VALUE = 63;
  private static final long NAME = 63;

  /** An argument of a hook; a script belongs into a file of the image. */
  private static final long ARGUMENT = 4096;

  /** Bytes: no sign, no fractions of one, no exponent. */
  private static final String QUANTITY = "^[0-9]{1,16}(\\.[0-9]{1,9})?([kMGTPE]|[KMGTPE]i)?$";

  private static final long LONGEST_QUANTITY = 32;

  private static final long SELECTOR_ENTRIES = 64;
  private static final long SELECTOR_VALUES = 256;
  private static final long SELECTOR_OPERATOR = 16;

  private SpecLimits() {}

  static void set(String name, JSONSchemaProps schema) {
    if (Boolean.TRUE.equals(schema.getXKubernetesIntOrString())) {
      schema.setPattern(QUANTITY);
      schema.setMaxLength(LONGEST_QUANTITY);
    }
    Map<String, JSONSchemaProps> properties = schema.getProperties();
    if (properties != null && properties.containsKey("matchExpressions")) {
      selector(schema);
    }
    if (schema.getItems() != null) {
      JSONSchemaProps item = schema.getItems().getSchema();
      if (isOpen(item)) {
        item.setMaxLength(
            switch (name) {
              case "command" -> ARGUMENT;
              case "names", "excludeNodes", "avoidNodes" -> NAME;
              case "values" -> LABEL_VALUE;
              default -> throw new IllegalStateException("list without a limit of items: " + name);
            });
      }
      set(name, item);
    }
    if (schema.getAdditionalProperties() != null) {
      JSONSchemaProps value = schema.getAdditionalProperties().getSchema();
      if (isOpen(value)) {
        value.setMaxLength(LABEL_VALUE);
      }
      ValidationRule keys = new ValidationRule();
      keys.setRule("self.all(key, key.size() <= %d)".formatted(LABEL_KEY));
      keys.setMessage(name + ": expected keys of at most %d characters".formatted(LABEL_KEY));
      List<ValidationRule> rules = new ArrayList<>(schema.getXKubernetesValidations());
      rules.add(keys);
      schema.setXKubernetesValidations(rules);
    }
    if (properties != null) {
      properties.forEach(SpecLimits::set);
    }
  }

  private static boolean isOpen(JSONSchemaProps schema) {
    return "string".equals(schema.getType())
        && schema.getMaxLength() == null
        && (schema.getEnum() == null || schema.getEnum().isEmpty());
  }

  private static void selector(JSONSchemaProps selector) {
    JSONSchemaProps expressions = SchemaFinish.property(selector, "matchExpressions");
    expressions.setMaxItems(SELECTOR_ENTRIES);
    JSONSchemaProps expression = expressions.getItems().getSchema();
    SchemaFinish.property(expression, "key").setMaxLength(LABEL_KEY);
    SchemaFinish.property(expression, "operator").setMaxLength(SELECTOR_OPERATOR);
    SchemaFinish.property(expression, "values").setMaxItems(SELECTOR_VALUES);
    SchemaFinish.property(selector, "matchLabels").setMaxProperties(SELECTOR_ENTRIES);
  }
}
