package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the pods of a request in the watch, or in the API server while the watch lags behind. */
public record RequestPods(Cluster cluster, PodWrites pods) {

  /** Returns the pod that the spec names; before a refusal, it is read from the API server. */
  public Optional<Pod> named(String namespace, String name) {
    return cluster
        .pod(namespace, name)
        .filter(pod -> new PodState(pod).isIn("Running") && !new PodState(pod).isBeingDeleted())
        .or(() -> pods.fresh(namespace, name));
  }

  /** Returns the pod that the status names; another one with its name is not meant. */
  public Optional<Pod> known(String namespace, ObservedPod known) {
    return cluster
        .pod(namespace, known.name())
        .filter(pod -> pod.getMetadata().getUid().equals(known.uid()))
        .or(() -> pods.fresh(namespace, known.name(), known.uid()));
  }

  /**
   * Returns the target pod of a request.
   *
   * @param known as in the status; null if it was created before a write was lost, or not at all
   */
  public Optional<Pod> target(HasMetadata request, @Nullable ObservedPod known) {
    String namespace = request.getMetadata().getNamespace();
    if (known != null) {
      return known(namespace, known);
    }
    String uid = request.getMetadata().getUid();
    return cluster.pods(namespace).stream()
        .filter(pod -> uid.equals(Marks.labels(pod).get(Api.OPERATION_UID_LABEL)))
        .filter(pod -> new PodState(pod).isTarget() && !new PodState(pod).isBeingDeleted())
        .findFirst();
  }
}
