package dev.stasis.operator.uninstall;

/**
 * A change to make before Stasis is removed.
 *
 * @param kind of the object
 * @param field of its spec
 * @param value the field's new value
 */
public record Step(String kind, String namespace, String name, String field, Object value) {

  static Step resume(String namespace, String name) {
    return new Step("GpuCheckpoint", namespace, name, "desiredState", "Running");
  }

  static Step cancel(String kind, String namespace, String name) {
    return new Step(kind, namespace, name, "cancel", true);
  }

  @Override
  public String toString() {
    return kind + " " + namespace + "/" + name + ": spec." + field + "=" + value;
  }
}
