package dev.stasis.local.api;

import com.fasterxml.jackson.databind.JsonNode;
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

/** The definitions of our resources, as they are installed in a cluster. */
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
          throw new IllegalStateException("resources: wanted " + file + ", found none");
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

  /** The schema of the newest version. */
  Optional<JsonNode> schema(String plural) {
    return of(plural)
        .map(
            definition ->
                Serialization.jsonMapper()
                    .valueToTree(
                        definition
                            .getSpec()
                            .getVersions()
                            .get(0)
                            .getSchema()
                            .getOpenAPIV3Schema()));
  }
}
