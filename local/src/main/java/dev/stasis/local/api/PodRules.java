package dev.stasis.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Defaults that an API server applies to a new pod. */
public final class PodRules {

  /**
   * Keeps a deleted pod until its containers are gone. A real API server has grace periods for
   * that; this one supports only finalizers.
   */
  public static final String FINALIZER = "kubelet.stasis.dev/running";

  void complete(ObjectNode pod) {
    ObjectNode metadata = pod.withObjectProperty("metadata");
    boolean held = false;
    for (JsonNode finalizer : metadata.path("finalizers")) {
      held |= finalizer.asText().equals(FINALIZER);
    }
    if (!held) {
      metadata.withArrayProperty("finalizers").add(FINALIZER);
    }
    ObjectNode spec = pod.withObjectProperty("spec");
    standard(spec, "restartPolicy", "Always");
    standard(spec, "dnsPolicy", "ClusterFirst");
    standard(spec, "serviceAccountName", "default");
    if (!spec.has("terminationGracePeriodSeconds")) {
      spec.put("terminationGracePeriodSeconds", 30);
    }
    pod.withObjectProperty("status").put("phase", "Pending");
    for (String list : new String[] {"initContainers", "containers"}) {
      for (JsonNode container : spec.path(list)) {
        if (container instanceof ObjectNode object) {
          standard(object, "imagePullPolicy", "IfNotPresent");
          requests(object);
        }
      }
    }
  }

  private static void standard(ObjectNode object, String field, String value) {
    if (!object.has(field)) {
      object.put(field, value);
    }
  }

  /** A limit without a request is the request too. */
  private static void requests(ObjectNode container) {
    JsonNode limits = container.path("resources").path("limits");
    if (limits.isObject()) {
      ObjectNode requests =
          container.withObjectProperty("resources").withObjectProperty("requests");
      limits
          .properties()
          .forEach(
              limit -> {
                if (!requests.has(limit.getKey())) {
                  requests.set(limit.getKey(), limit.getValue());
                }
              });
    }
  }
}
