package dev.stasis.api.crds;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Immutable;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/** What the generator cannot say by annotations of its own. */
final class SchemaFinish implements CRDPostProcessor {
  private static final Pattern LONG =
      Pattern.compile(
          ".*([bB]ytes|BytesWanted|BytesFound|Milliseconds|PerSecond|Seconds|Generation)|pid");

  /** Kinds whose objects have a status from their beginning, or none that anybody waits for. */
  private static final Set<Class<?>> AGENTS = Set.of(GpuNode.class, GpuNodeOperation.class);

  /** Field of a spec with what few users need. */
  static final String OPTIONS = "options";

  /** The value of every enum that stands for those of a newer release. */
  static final String UNRECOGNIZED = "Unrecognized";

  private final List<Class<? extends CustomResource<?, ?>>> kinds;

  SchemaFinish(List<Class<? extends CustomResource<?, ?>>> kinds) {
    this.kinds = kinds;
  }

  @Override
  public HasMetadata process(HasMetadata resource, String crdSpecVersion) {
    CustomResourceDefinition crd = (CustomResourceDefinition) resource;
    Class<?> kind =
        kinds.stream()
            .filter(type -> type.getSimpleName().equals(crd.getSpec().getNames().getKind()))
            .findFirst()
            .orElseThrow();
    for (CustomResourceDefinitionVersion version : crd.getSpec().getVersions()) {
      columnsInTheirOrder(version, kind);
      JSONSchemaProps root = version.getSchema().getOpenAPIV3Schema();
      root.setDescription(kind.getAnnotation(JsonClassDescription.class).value());
      JSONSchemaProps spec = property(root, "spec");
      spec.setDescription("Desired state of the object.");
      JSONSchemaProps status = property(root, "status");
      status.setDescription("Observed state of the object.");
      if (!AGENTS.contains(kind)) {
        unseenIsNotCurrent(status);
      }
      if (kind != GpuNode.class) {
        root.setRequired(List.of("spec"));
      }
      immutableFields(spec, specType(kind));
      optionsHaveDefaults(spec);
      root.getProperties().forEach(this::finish);
      SpecLimits.set("spec", spec);
    }
    return crd;
  }

  /** The generator sorts columns by their path; people read them in the order of the type. */
  private static void columnsInTheirOrder(CustomResourceDefinitionVersion version, Class<?> kind) {
    List<String> order =
        Arrays.stream(kind.getAnnotationsByType(AdditionalPrinterColumn.class))
            .map(AdditionalPrinterColumn::name)
            .toList();
    version
        .getAdditionalPrinterColumns()
        .sort(Comparator.comparingInt(column -> order.indexOf(column.getName())));
  }

  private static Class<?> specType(Class<?> kind) {
    return (Class<?>) ((ParameterizedType) kind.getGenericSuperclass()).getActualTypeArguments()[0];
  }

  private static void immutableFields(JSONSchemaProps spec, Class<?> type) {
    List<ValidationRule> rules = new ArrayList<>(spec.getXKubernetesValidations());
    for (Class<?> part = type; part != Object.class; part = part.getSuperclass()) {
      for (Field field : part.getDeclaredFields()) {
        if (field.isAnnotationPresent(Immutable.class)) {
          rules.add(immutable(nameOf(field)));
        }
        if (field.getName().equals(OPTIONS)) {
          immutableFields(property(spec, OPTIONS), field.getType());
        }
      }
    }
    spec.setXKubernetesValidations(rules);
  }

  /**
   * kstatus takes an object without a status for one that is as wanted. With this generation it
   * waits for the operator.
   */
  private static void unseenIsNotCurrent(JSONSchemaProps status) {
    status.setDefault(JsonNodeFactory.instance.objectNode().put("observedGeneration", -1));
  }

  /** Without a default of the object, those of its fields would not be set. */
  private static void optionsHaveDefaults(JSONSchemaProps schema) {
    if (schema.getProperties() != null) {
      schema
          .getProperties()
          .forEach(
              (name, field) -> {
                if (name.equals(OPTIONS)) {
                  field.setDefault(JsonNodeFactory.instance.objectNode());
                }
                optionsHaveDefaults(field);
              });
    }
  }

  private static String nameOf(Field field) {
    JsonProperty named = field.getAnnotation(JsonProperty.class);
    return named == null ? field.getName() : named.value();
  }

  private static ValidationRule immutable(String field) {
    ValidationRule rule = new ValidationRule();
    rule.setRule(
        "has(self.%1$s) == has(oldSelf.%1$s) && (!has(self.%1$s) || self.%1$s == oldSelf.%1$s)"
            .formatted(field));
    rule.setMessage(field + ": cannot be changed once the object exists");
    rule.setFieldPath("." + field);
    return rule;
  }

  private void finish(String name, JSONSchemaProps schema) {
    if ("integer".equals(schema.getType())) {
      schema.setFormat(LONG.matcher(name).matches() ? "int64" : "int32");
    }
    if (schema.getEnum() != null) {
      // Read of a newer release, never written.
      schema.setEnum(
          schema.getEnum().stream().filter(it -> !it.asText().equals(UNRECOGNIZED)).toList());
    }
    if (name.equals("conditions")) {
      // One owner a type: server-side apply then merges, in place of replacing the list.
      schema.setXKubernetesListType("map");
      schema.setXKubernetesListMapKeys(List.of("type"));
    }
    // An annotation of a record's component stands on its field and on its accessor.
    schema.setXKubernetesValidations(
        schema.getXKubernetesValidations().stream().distinct().toList());
    Map<String, JSONSchemaProps> properties = schema.getProperties();
    if (properties != null) {
      if (properties.containsKey("matchExpressions")) {
        labelSelector(schema);
      }
      properties.forEach(this::finish);
    }
    if (schema.getItems() != null && schema.getItems().getSchema() != null) {
      finish("", schema.getItems().getSchema());
    }
    if (Boolean.TRUE.equals(schema.getXKubernetesPreserveUnknownFields())) {
      schema.setAdditionalProperties(null);
    }
  }

  /** Kubernetes' own type, which brings no words along. */
  private static void labelSelector(JSONSchemaProps schema) {
    schema.setXKubernetesMapType("atomic");
    JSONSchemaProps expressions = property(schema, "matchExpressions");
    expressions.setDescription("Requirements on labels, all of which must hold.");
    JSONSchemaProps expression = expressions.getItems().getSchema();
    expression.setRequired(List.of("key", "operator"));
    property(expression, "key").setDescription("Key of the label.");
    property(expression, "operator").setDescription("In, NotIn, Exists or DoesNotExist.");
    property(expression, "values").setDescription("Values, for In and NotIn.");
    property(schema, "matchLabels").setDescription("Labels that must all be present.");
  }

  /** A property that is known to be there. */
  static JSONSchemaProps property(JSONSchemaProps schema, String name) {
    return Objects.requireNonNull(schema.getProperties().get(name), name);
  }
}
