package dev.stasis.api.skew;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.client.CustomResource;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds values of a newer release in an object. Such an object is left alone: its values may
 * request the opposite of what this release would do.
 */
public final class UnrecognizedValues {

  /** Name of the constant as which {@link NewerObjects} reads them. */
  static final String CONSTANT = "UNRECOGNIZED";

  private static final String OURS = Api.class.getPackageName() + ".";

  private final List<String> fields = new ArrayList<>();

  private UnrecognizedValues() {}

  /** Returns the fields with such a value, such as {@code status.phase}; empty if there is none. */
  public static List<String> in(CustomResource<?, ?> object) {
    UnrecognizedValues found = new UnrecognizedValues();
    found.visit("spec", object.getSpec());
    found.visit("status", object.getStatus());
    return List.copyOf(found.fields);
  }

  private void visit(String path, @Nullable Object value) {
    if (value instanceof Enum<?> constant) {
      if (constant.name().equals(CONSTANT)) {
        fields.add(path);
      }
    } else if (value instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        visit(path + "[" + i + "]", list.get(i));
      }
    } else if (value != null && !(value instanceof Map)) {
      visitFields(path, value, value.getClass());
    }
  }

  /** A superclass may be one of Java's or of Kubernetes' client: they have none of our enums. */
  private void visitFields(String path, Object value, @Nullable Class<?> type) {
    if (type == null || !type.getName().startsWith(OURS)) {
      return;
    }
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        visit(path + "." + field.getName(), read(field, value));
      }
    }
    visitFields(path, value, type.getSuperclass());
  }

  private static @Nullable Object read(Field field, Object of) {
    try {
      field.setAccessible(true);
      return field.get(of);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("cannot read " + field, e);
    }
  }
}
