package dev.stasis.operator.cluster;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/**
 * Does not deserialize metadata.managedFields. As nested maps they were half of the heap, in every
 * cache, and they are not used. An update without them leaves them unchanged in the API server.
 */
@Singleton
class WithoutManagedFields implements KubernetesClientObjectMapperCustomizer {

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.addMixIn(ObjectMeta.class, Ignored.class);
  }

  /** Replaces Jackson's view of {@link ObjectMeta}. */
  @JsonIgnoreProperties("managedFields")
  private interface Ignored {}
}
