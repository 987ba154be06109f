package dev.stasis.operator.eviction;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.operator.pod.PodLabels;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A PodDisruptionBudget for each pod that is being saved: while no operator answers the API server,
 * it keeps that pod from being evicted in the middle, and no other.
 */
@Singleton
class Guards {

  private final KubernetesClient client;
  private final PodLabels podLabels;

  Guards(KubernetesClient client) {
    this.client = client;
    this.podLabels = new PodLabels(client);
  }

  /** The budget of its user's that would refuse the eviction of the pod now; empty: none does. */
  Optional<String> refusal(Pod pod) {
    return budgets(pod.getMetadata().getNamespace()).stream()
        .filter(budget -> !isOurs(budget) && covers(budget, PodLabels.of(pod)))
        .filter(
            budget ->
                budget.getStatus() == null
                    || budget.getStatus().getDisruptionsAllowed() == null
                    || budget.getStatus().getDisruptionsAllowed() < 1)
        .findFirst()
        .map(
            budget ->
                "eviction of pod %s: wanted a disruption that PodDisruptionBudget %s allows, found none"
                    .formatted(pod.getMetadata().getName(), budget.getMetadata().getName()));
  }

  /**
   * Sees to it that there is one. A pod that has a budget gets no second one: the eviction API
   * answers 500 for a pod with two.
   */
  void stand(Pod pod, GpuCheckpoint attempt) {
    String namespace = pod.getMetadata().getNamespace();
    String uid = pod.getMetadata().getUid();
    patchLabel(pod, uid);
    Map<String, String> labels = new HashMap<>(PodLabels.of(pod));
    labels.put(Api.EVICTION_LABEL, uid);
    if (budgets(namespace).stream().anyMatch(budget -> covers(budget, labels))) {
      return;
    }
    OwnerReference owner =
        new OwnerReferenceBuilder()
            .withApiVersion(attempt.getApiVersion())
            .withKind(attempt.getKind())
            .withName(attempt.getMetadata().getName())
            .withUid(attempt.getMetadata().getUid())
            .build();
    PodDisruptionBudget budget =
        new PodDisruptionBudgetBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(Attempt.base(pod))
            .addToLabels(Api.EVICTION_LABEL, uid)
            .withOwnerReferences(owner)
            .endMetadata()
            .withNewSpec()
            // A number, since a percentage wants a controller.
            .withMinAvailable(new IntOrString(1))
            .withNewSelector()
            .addToMatchLabels(Api.EVICTION_LABEL, uid)
            .endSelector()
            .endSpec()
            .build();
    try {
      client.resource(budget).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }

  /** Takes it away, for a pod that may go or goes on. */
  void leave(String namespace, String podUid) {
    client
        .policy()
        .v1()
        .podDisruptionBudget()
        .inNamespace(namespace)
        .withLabel(Api.EVICTION_LABEL, podUid)
        .list()
        .getItems()
        .forEach(budget -> client.resource(budget).delete());
  }

  /** The pod goes on, and is one like any other. */
  void forget(Pod pod) {
    if (PodLabels.of(pod).containsKey(Api.EVICTION_LABEL)) {
      patchLabel(pod, null);
    }
  }

  private void patchLabel(Pod pod, @Nullable String value) {
    Map<String, @Nullable String> labels = new HashMap<>();
    labels.put(Api.EVICTION_LABEL, value);
    podLabels.change(pod, labels);
  }

  private List<PodDisruptionBudget> budgets(String namespace) {
    return client.policy().v1().podDisruptionBudget().inNamespace(namespace).list().getItems();
  }

  private static boolean isOurs(PodDisruptionBudget budget) {
    return budget.getMetadata().getLabels() != null
        && budget.getMetadata().getLabels().containsKey(Api.EVICTION_LABEL);
  }

  private static boolean covers(PodDisruptionBudget budget, Map<String, String> labels) {
    LabelSelector selector = budget.getSpec().getSelector();
    return selector != null && new Selector(selector).matches(labels);
  }
}
