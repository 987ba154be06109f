package dev.stasis.agent.daemon;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.skew.NewerObjects;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/** During an upgrade the operator and the CRDs are newer than the agent for a while. */
@Singleton
final class ReadsNewerObjects implements KubernetesClientObjectMapperCustomizer {

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.registerModule(new NewerObjects());
  }
}
