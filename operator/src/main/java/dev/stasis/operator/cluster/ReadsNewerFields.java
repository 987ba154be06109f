package dev.stasis.operator.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.skew.NewerFields;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/** An operator works on under the definitions of a newer release, with its objects. */
@Singleton
class ReadsNewerFields implements KubernetesClientObjectMapperCustomizer {

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.registerModule(new NewerFields());
  }
}
