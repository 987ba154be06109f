package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How large an object may be that a user writes. */
class LimitsTest {

  /** Only the operator writes operations; it packs a pod of the API server, which has limits. */
  private static final Set<String> OF_THE_OPERATOR = Set.of("spec.freeze.podTemplate");

  @ParameterizedTest
  @MethodSource("dev.stasis.api.crds.SchemaTest#definitions")
  void everythingInASpecHasALimit(CustomResourceDefinition definition) {
    JSONSchemaProps root =
        definition.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema();
    List<String> open = new ArrayList<>();
    find("spec", SchemaFinish.property(root, "spec"), open);

    assertThat(open).isEmpty();
  }

  private static void find(String path, JSONSchemaProps schema, List<String> open) {
    boolean isOpen =
        switch (String.valueOf(schema.getType())) {
          case "string" ->
              schema.getMaxLength() == null
                  && (schema.getEnum() == null || schema.getEnum().isEmpty());
          case "array" -> schema.getMaxItems() == null;
          case "object" ->
              schema.getAdditionalProperties() != null && schema.getMaxProperties() == null
                  || Boolean.TRUE.equals(schema.getXKubernetesPreserveUnknownFields());
          default ->
              Boolean.TRUE.equals(schema.getXKubernetesIntOrString())
                  && schema.getMaxLength() == null;
        };
    if (isOpen && !OF_THE_OPERATOR.contains(path)) {
      open.add(path);
    }
    if (schema.getProperties() != null) {
      schema.getProperties().forEach((name, field) -> find(path + "." + name, field, open));
    }
    if (schema.getItems() != null) {
      find(path + "[]", schema.getItems().getSchema(), open);
    }
    if (schema.getAdditionalProperties() != null) {
      find(path + "{}", schema.getAdditionalProperties().getSchema(), open);
    }
  }
}
