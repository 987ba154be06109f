package dev.stasis.operator.uninstall;

import java.util.Map;

/**
 * A change to make before Stasis is removed.
 *
 * @param kind of the object
 * @param field of its spec; a dot separates a field of its options
 * @param value the field's new value
 */
public record Step(String kind, String namespace, String name, String field, Object value) {

  static Step resume(String namespace, String name) {
    return new Step("GpuCheckpoint", namespace, name, "desiredState", "Running");
  }

  static Step cancel(String kind, String namespace, String name) {
    return new Step(kind, namespace, name, "options.cancel", true);
  }

  /** Returns the merge patch that makes the change. */
  public Map<String, Object> patch() {
    Object nested = value;
    String[] path = field.split("\\.");
    for (int i = path.length - 1; i >= 0; i--) {
      nested = Map.of(path[i], nested);
    }
    return Map.of("spec", nested);
  }

  @Override
  public String toString() {
    return kind + " " + namespace + "/" + name + ": spec." + field + "=" + value;
  }
}
