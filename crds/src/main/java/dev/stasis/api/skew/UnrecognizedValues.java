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

  /** The fields of each class; each reconciliation reads them. */
  private static final ClassValue<List<Field>> FIELDS =
      new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
          return fields(type);
        }
      };

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

  private void visitFields(String path, Object value, Class<?> type) {
    for (Field field : FIELDS.get(type)) {
      visit(path + "." + field.getName(), read(field, value));
    }
  }

  /** A superclass may be one of Java's or of Kubernetes' client: they have none of our enums. */
  private static List<Field> fields(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    for (Class<?> its = type;
        its != null && its.getName().startsWith(OURS);
        its = its.getSuperclass()) {
      for (Field field : its.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !isPlain(field.getType())) {
          field.setAccessible(true);
          fields.add(field);
        }
      }
    }
    return List.copyOf(fields);
  }

  /** Texts, numbers, times and maps, which are most fields. */
  private static boolean isPlain(Class<?> type) {
    return type.isPrimitive()
        || type == Map.class
        || (type.getName().startsWith("java.") && Modifier.isFinal(type.getModifiers()));
  }

  private static @Nullable Object read(Field field, Object of) {
    try {
      return field.get(of);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("cannot read " + field, e);
    }
  }
}
