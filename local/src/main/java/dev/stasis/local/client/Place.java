package dev.stasis.local.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Where the objects of a kind are asked for; those in namespaces in the one called default. */
record Place(String path) {

  private enum Known {
    POD("pods", true, true),
    EVENT("events", true, true),
    NODE("nodes", true, false),
    GPUCHECKPOINT("gpucheckpoints", false, true, "gckpt"),
    GPURESTORE("gpurestores", false, true, "grst"),
    GPUCHECKPOINTSTORE("gpucheckpointstores", false, false, "gstore"),
    GPUNODE("gpunodes", false, false, "gnode");

    private final String plural;
    private final boolean core;
    private final boolean namespaced;
    private final List<String> names;

    Known(String plural, boolean core, boolean namespaced, String... names) {
      this.plural = plural;
      this.core = core;
      this.namespaced = namespaced;
      this.names = List.of(names);
    }

    private boolean isCalled(String word) {
      String lower = word.toLowerCase(Locale.ROOT);
      return lower.equals(plural)
          || lower.equals(name().toLowerCase(Locale.ROOT))
          || names.contains(lower);
    }
  }

  static Place of(JsonNode object) {
    return named(object.path("kind").asText());
  }

  static Place named(String word) {
    Known kind =
        Arrays.stream(Known.values())
            .filter(it -> it.isCalled(word))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "kind: wanted one of "
                            + Arrays.toString(Known.values()).toLowerCase(Locale.ROOT)
                            + ", found "
                            + word));
    return new Place(
        (kind.core ? "/api/v1" : "/apis/stasis.dev/v1alpha1")
            + (kind.namespaced ? "/namespaces/default" : "")
            + "/"
            + kind.plural);
  }
}
