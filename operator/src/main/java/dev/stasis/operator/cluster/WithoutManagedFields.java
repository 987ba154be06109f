package dev.stasis.operator.cluster;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/**
 * Reads no metadata.managedFields: who wrote which field. As maps of maps they were half of the
 * heap, in every cache, and nobody here asks for them. An update without them leaves them to the
 * API server, which goes on with its own.
 */
@Singleton
class WithoutManagedFields implements KubernetesClientObjectMapperCustomizer {

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.addMixIn(ObjectMeta.class, Ignored.class);
  }

  /** What Jackson shall take for written at {@link ObjectMeta}. */
  @JsonIgnoreProperties("managedFields")
  private interface Ignored {}
}
