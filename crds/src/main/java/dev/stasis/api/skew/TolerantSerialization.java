package dev.stasis.api.skew;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** How a client reads and writes objects that is made without Quarkus. */
public final class TolerantSerialization extends KubernetesSerialization {

  /** With a mapper of its own. */
  public TolerantSerialization() {
    super(new ObjectMapper().registerModule(new NewerFields()), true);
  }
}
