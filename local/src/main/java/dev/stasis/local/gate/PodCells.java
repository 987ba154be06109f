package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.JsonNode;

/** What kubectl shows of a pod and no path leads to. */
record PodCells(JsonNode pod) {

  /** Types of such columns. */
  static final String READY = "ready containers";

  static final String STATUS = "pod status";

  String ready() {
    int ready = 0;
    for (JsonNode container : pod.path("status").path("containerStatuses")) {
      ready += container.path("ready").asBoolean() ? 1 : 0;
    }
    return ready + "/" + pod.path("spec").path("containers").size();
  }

  String status() {
    return pod.path("metadata").has("deletionTimestamp")
        ? "Terminating"
        : pod.path("status").path("phase").asText();
  }
}
