package dev.stasis.operator.operation;

import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.cluster.Cluster;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Finds the request that uses a pod, or keeps it frozen or suspended. */
public record PodInUse(Cluster cluster) {

  /** Returns a message if a request with another uid uses the pod; otherwise empty. */
  public Optional<String> byAnother(Pod pod, String requesterUid) {
    return cluster.operationsOn(pod.getMetadata().getUid()).stream()
        .map(OperationView::of)
        .filter(PodInUse::isInUse)
        .map(view -> view.operation().getSpec().getRequester())
        .filter(requester -> !requester.uid().equals(requesterUid))
        .findFirst()
        .map(requester -> sentence(pod, requester));
  }

  private static boolean isInUse(OperationView view) {
    return !view.isFinal() || view.workload() == WorkloadState.SUSPENDED || view.isLeftFrozen();
  }

  private static String sentence(Pod pod, ObjectReference requester) {
    return "pod %s: expected one that no request uses, got one in use by %s %s"
        .formatted(pod.getMetadata().getName(), requester.kind(), requester.name());
  }
}
