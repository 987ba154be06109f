package dev.stasis.agent.daemon.operation;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Pods as the API server has them now. */
public interface Pods {

  /** The pod of that name; empty when there is none. */
  Optional<Pod> find(String namespace, String name) throws ApiUnreachable;
}
