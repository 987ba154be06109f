package dev.stasis.operator.cluster;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.Serializers;
import dev.stasis.api.v1beta1.Api;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the records of Stasis's kinds as they are, for a mapper whose output is read in the same
 * process: a record of values cannot change, so a copy may share it.
 */
final class SharedRecords extends SimpleModule {

  private static final long serialVersionUID = 1;

  private static final String OURS = Api.class.getPackageName() + ".";

  private static final Set<Class<?>> VALUES =
      Set.of(String.class, Long.class, Integer.class, Double.class, Boolean.class, Instant.class);

  @Override
  public void setupModule(SetupContext context) {
    super.setupModule(context);
    context.addSerializers(
        new Serializers.Base() {
          @Override
          public @Nullable JsonSerializer<?> findSerializer(
              SerializationConfig config, JavaType type, BeanDescription description) {
            // One with a text of its own is read from that text.
            return isShared(type.getRawClass()) && description.findJsonValueAccessor() == null
                ? new AsItIs()
                : null;
          }
        });
  }

  /** Returns whether a type is a record of Stasis's kinds, and consists of values. */
  private static boolean isShared(Class<?> type) {
    return type.isRecord()
        && type.getName().startsWith(OURS)
        && Stream.of(type.getRecordComponents())
            .map(RecordComponent::getGenericType)
            .allMatch(SharedRecords::isValue);
  }

  /** A list in a record counts: nothing changes the list of a record. */
  private static boolean isValue(Type type) {
    if (type instanceof ParameterizedType parameterized) {
      return parameterized.getRawType() == List.class
          && isValue(parameterized.getActualTypeArguments()[0]);
    }
    if (type instanceof Class<?> it) {
      return it.isPrimitive() || it.isEnum() || VALUES.contains(it) || isShared(it);
    }
    // That of PhaseTime: the phases of a kind are an enum.
    return type instanceof TypeVariable<?>;
  }

  private static final class AsItIs extends JsonSerializer<Object> {

    @Override
    public void serialize(Object value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeEmbeddedObject(value);
    }
  }
}
