package dev.stasis.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The CRDs of Stasis, as installed in a cluster. */
final class KnownKinds {

  private static final List<String> PLURALS =
      List.of(
          "gpucheckpoints",
          "gpucheckpointschedules",
          "gpucheckpointstores",
          "gpumigrations",
          "gpunodeoperations",
          "gpunodes",
          "gpupreemptionpolicies",
          "gpurestores");

  private final Map<String, CustomResourceDefinition> byPlural = new TreeMap<>();

  KnownKinds() {
    for (String plural : PLURALS) {
      String file = "/crds/" + plural + ".stasis.dev.yaml";
      try (InputStream yaml = KnownKinds.class.getResourceAsStream(file)) {
        if (yaml == null) {
          throw new IllegalStateException("resources: expected " + file + ", got none");
        }
        byPlural.put(plural, Serialization.unmarshal(yaml, CustomResourceDefinition.class));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  List<CustomResourceDefinition> all() {
    return new ArrayList<>(byPlural.values());
  }

  Optional<CustomResourceDefinition> of(String plural) {
    return Optional.ofNullable(byPlural.get(plural));
  }

  /** Applies the defaults of the kind's schema, as an API server does. */
  void fillDefaults(String plural, ObjectNode object) {
    of(plural)
        .map(it -> it.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema())
        .ifPresent(schema -> fill(object, Serialization.jsonMapper().valueToTree(schema)));
  }

  private static void fill(JsonNode value, JsonNode schema) {
    if (value instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
        JsonNode standard = property.getValue().get("default");
        if (standard != null && !object.has(property.getKey())) {
          object.set(property.getKey(), standard.deepCopy());
        }
        if (object.has(property.getKey())) {
          fill(object.get(property.getKey()), property.getValue());
        }
      }
    } else if (value.isArray()) {
      for (JsonNode element : value) {
        fill(element, schema.path("items"));
      }
    }
  }
}
