package dev.stasis.operator.uninstall;

/**
 * Something to do before Stasis goes.
 *
 * @param kind of the object
 * @param field of its spec
 * @param value that the field gets
 */
public record Step(String kind, String namespace, String name, String field, boolean value) {

  static Step resume(String namespace, String name) {
    return new Step("GpuCheckpoint", namespace, name, "suspend", false);
  }

  static Step cancel(String kind, String namespace, String name) {
    return new Step(kind, namespace, name, "cancel", true);
  }

  @Override
  public String toString() {
    return kind + " " + namespace + "/" + name + ": spec." + field + "=" + value;
  }
}
