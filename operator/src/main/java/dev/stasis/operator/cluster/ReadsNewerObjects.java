package dev.stasis.operator.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.skew.NewerObjects;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/** Lets an operator work with the CRDs and objects of a newer release. */
@Singleton
class ReadsNewerObjects implements KubernetesClientObjectMapperCustomizer {

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.registerModule(new NewerObjects());
  }
}
