package dev.stasis.operator.cluster;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import dev.stasis.api.v1beta1.common.PackedObject;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapper;
import io.quarkus.kubernetes.client.KubernetesResources;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Copies objects without writing and parsing their text, and shares what cannot change. The SDK
 * copies the primary resource for each reconciliation.
 */
@Singleton
public class SharingSerialization extends KubernetesSerialization {

  private final ObjectMapper mapper;
  private final ObjectWriter sharing;

  /**
   * @param kinds the kinds that the client is to know
   */
  public SharingSerialization(
      @KubernetesClientObjectMapper ObjectMapper mapper, @KubernetesResources Class<?>[] kinds) {
    // As in Quarkus: all kinds are given, and none is searched for.
    super(mapper, false);
    this.mapper = mapper;
    this.sharing = mapper.writer().withAttribute(PackedObject.SHARED, true);
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
