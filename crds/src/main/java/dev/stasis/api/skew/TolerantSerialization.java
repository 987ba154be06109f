package dev.stasis.api.skew;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** Serialization for clients that are created without Quarkus. */
public final class TolerantSerialization extends KubernetesSerialization {

  /** Creates a serialization with its own mapper. */
  public TolerantSerialization() {
    super(new ObjectMapper().registerModule(new NewerObjects()), true);
  }
}
