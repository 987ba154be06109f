package dev.stasis.operator.cluster;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.core.util.JsonParserSequence;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import dev.stasis.api.v1beta1.common.PackedObject;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapper;
import io.quarkus.kubernetes.client.KubernetesResources;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Copies objects without writing and parsing their text, and shares what cannot change. The SDK
 * copies the primary resource for each reconciliation. Reads the objects of watches directly, and
 * each event once: several watches of a kind receive it, and their caches are read-only. So are the
 * lists by which they begin.
 */
@Singleton
public class SharingSerialization extends KubernetesSerialization {

  /** Each watch is read by its own thread: enough for the events by which they are apart. */
  private static final int REMEMBERED = 128;

  /** In characters; a typical GpuCheckpoint has 10,000. Longer events are not remembered. */
  private static final int LONGEST = 32_768;

  /**
   * Places for objects: of 6,000, one in twenty shares its place with another and is kept twice.
   */
  private static final int LISTED = 131_072;

  private final ObjectMapper mapper;
  private final ObjectWriter sharing;

  /** By the whole text: a digest that collides would give one tenant the object of another. */
  private final RecentMap<String, WatchEvent> events = new RecentMap<>(REMEMBERED);

  /** Objects of lists, by the hash of their uid. */
  private final AtomicReferenceArray<@Nullable WeakReference<CustomResource<?, ?>>> listed =
      new AtomicReferenceArray<>(LISTED);

  /**
   * @param kinds the kinds that the client is to know
   */
  @SuppressWarnings("rawtypes") // the type of Quarkus' bean
  public SharingSerialization(
      @KubernetesClientObjectMapper ObjectMapper mapper, @KubernetesResources Class[] kinds) {
    // As in Quarkus: all kinds are given, and none is searched for.
    super(mapper, false);
    this.mapper = mapper.registerModule(new SharedStrings());
    this.sharing =
        mapper
            .copy()
            .registerModule(new SharedRecords())
            .writer()
            .withAttribute(PackedObject.SHARED, true);
    for (Class<?> kind : kinds) {
      registerKubernetesResource(kind.asSubclass(KubernetesResource.class));
    }
  }

  @Override
  public <T> T clone(T object) {
    try (JsonParser tokens = tokens(object)) {
      return mapper.readerFor(object.getClass()).readValue(tokens);
    } catch (IOException e) {
      throw new UncheckedIOException("a copy of " + object.getClass().getName(), e);
    }
  }

  /** Reads an event of a watch in one pass. Fabric8 reads its object as a tree, and converts it. */
  @Override
  public <T> T unmarshal(String text, Class<T> type) {
    return Optional.of(type)
        .filter(WatchEvent.class::equals)
        .flatMap(it -> events.get(text).or(() -> remembered(text)))
        .map(type::cast)
        .orElseGet(() -> super.unmarshal(text, type));
  }

  private Optional<WatchEvent> remembered(String text) {
    Optional<WatchEvent> read = event(text);
    if (text.length() <= LONGEST) {
      read.ifPresent(it -> events.put(text, it));
    }
    return read;
  }

  /** Reads a list. Each reconciler lists its kind, and so does the shared informer of the kind. */
  @Override
  public <T> T unmarshal(InputStream text, TypeReference<T> type) {
    T read = super.unmarshal(text, type);
    if (read instanceof KubernetesResourceList<?> list && list.getItems() != null) {
      share(list);
    }
    return read;
  }

  private <R extends HasMetadata> void share(KubernetesResourceList<R> list) {
    list.getItems().replaceAll(this::shared);
  }

  @SuppressWarnings("unchecked") // an object of the same class
  private <R> R shared(R item) {
    if (!(item instanceof CustomResource<?, ?> object) || object.getMetadata().getUid() == null) {
      return item;
    }
    ObjectMeta metadata = object.getMetadata();
    int place = Math.floorMod(metadata.getUid().hashCode(), LISTED);
    WeakReference<CustomResource<?, ?>> reference = listed.get(place);
    CustomResource<?, ?> known = reference == null ? null : reference.get();
    if (known != null
        && known.getClass() == object.getClass()
        && known.getMetadata().getUid().equals(metadata.getUid())
        && known.getMetadata().getResourceVersion().equals(metadata.getResourceVersion())) {
      return (R) known;
    }
    listed.set(place, new WeakReference<>(object));
    return item;
  }

  /** Returns the event; empty if only Fabric8 can read it, or report what is wrong with it. */
  private Optional<WatchEvent> event(String text) {
    try (JsonParser json = mapper.createParser(text);
        TokenBuffer begin = new TokenBuffer(mapper, false)) {
      json.nextToken();
      Map<String, String> event = strings(json, 1);
      if (!"object".equals(json.nextFieldName()) || json.nextToken() != JsonToken.START_OBJECT) {
        return Optional.empty();
      }
      Map<String, String> object = strings(json, 2);
      if (object.isEmpty() || !event.containsKey("type")) {
        return Optional.empty();
      }
      Class<?> kind = getRegisteredKubernetesResource(object.get("apiVersion"), object.get("kind"));
      if (kind == null) {
        return Optional.empty();
      }
      begin.writeStartObject();
      for (Map.Entry<String, String> field : object.entrySet()) {
        begin.writeStringField(field.getKey(), field.getValue());
      }
      Object read =
          mapper
              .readerFor(kind)
              .readValue(JsonParserSequence.createFlattened(false, begin.asParser(), json));
      return json.nextToken() == JsonToken.END_OBJECT
          ? Optional.of(new WatchEvent(read, event.get("type")))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Returns the next fields: the API server writes the type, and the kind, first. */
  private static Map<String, String> strings(JsonParser json, int count) throws IOException {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      String name = json.nextFieldName();
      String value = name == null ? null : json.nextTextValue();
      if (value == null) {
        return Map.of();
      }
      fields.put(name, value);
    }
    return fields;
  }

  /** Returns an object as a tree that does not follow later changes of the object. */
  public JsonNode tree(Object object) {
    try (JsonParser tokens = tokens(object)) {
      return mapper.readTree(tokens);
    } catch (IOException e) {
      throw new UncheckedIOException("a tree of " + object.getClass().getName(), e);
    }
  }

  private JsonParser tokens(Object object) throws IOException {
    try (TokenBuffer tokens = new TokenBuffer(mapper, false)) {
      sharing.writeValue(tokens, object);
      return tokens.asParser();
    }
  }
}
