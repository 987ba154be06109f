package dev.stasis.agent.daemon;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.skew.NewerFields;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.inject.Singleton;

/** During an upgrade the operator and the CRDs are newer than the agent for a while. */
@Singleton
final class ReadsNewerFields implements KubernetesClientObjectMapperCustomizer {

  @Override
  public void customize(ObjectMapper mapper) {
    mapper.registerModule(new NewerFields());
  }
}
