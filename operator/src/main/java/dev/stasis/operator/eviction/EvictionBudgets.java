package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.pod.PodLabels;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * PodDisruptionBudgets for pods that are being checkpointed: they prevent the eviction of such a
 * pod while no operator answers the webhook.
 */
@Singleton
class EvictionBudgets {

  private final KubernetesClient client;
  private final PodLabels podLabels;

  EvictionBudgets(KubernetesClient client) {
    this.client = client;
    this.podLabels = new PodLabels(client);
  }

  /** Returns the user's budget that refuses the eviction of the pod now; empty if none does. */
  Optional<String> refusal(Pod pod) {
    return budgets(pod.getMetadata().getNamespace()).stream()
        .filter(
            budget ->
                !Marks.labels(budget).containsKey(Api.EVICTION_LABEL)
                    && covers(budget, Marks.labels(pod)))
        .filter(budget -> !allows(budget, pod))
        .findFirst()
        .map(
            budget ->
                "eviction of pod %s: PodDisruptionBudget %s allows no disruption"
                    .formatted(pod.getMetadata().getName(), budget.getMetadata().getName()));
  }

  /**
   * Returns whether the eviction API lets the pod go. It does not count a pod that is not ready, if
   * the budget's policy says so or enough other pods are healthy. A refusal here has no deadline,
   * so it must not be one that the API server would not give.
   */
  static boolean allows(PodDisruptionBudget budget, Pod pod) {
    PodDisruptionBudgetStatus status = budget.getStatus();
    if (status == null) {
      return false;
    }
    if (number(status.getDisruptionsAllowed()) > 0) {
      return true;
    }
    boolean enough =
        number(status.getDesiredHealthy()) > 0
            && number(status.getCurrentHealthy()) >= number(status.getDesiredHealthy());
    return !new PodState(pod).isReady()
        && ("AlwaysAllow".equals(budget.getSpec().getUnhealthyPodEvictionPolicy()) || enough);
  }

  private static int number(@Nullable Integer count) {
    return count == null ? 0 : count;
  }

  /** Creates a budget unless the pod has one: the eviction API answers 500 for a pod with two. */
  void create(Pod pod, GpuCheckpoint attempt) {
    String namespace = pod.getMetadata().getNamespace();
    String uid = pod.getMetadata().getUid();
    patchLabel(pod, uid);
    Map<String, String> labels = new HashMap<>(Marks.labels(pod));
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
            .withName(EvictionAttempt.base(pod))
            .addToLabels(Api.EVICTION_LABEL, uid)
            .withOwnerReferences(owner)
            .endMetadata()
            .withNewSpec()
            // A number: a percentage requires a controller.
            .withMinAvailable(new IntOrString(1))
            .withNewSelector()
            .addToMatchLabels(Api.EVICTION_LABEL, uid)
            .endSelector()
            .endSpec()
            .build();
    try {
      client.resource(budget).create();
    } catch (KubernetesClientException e) {
      if (!RefusedCreates.isNameTaken(e)) {
        throw e;
      }
    }
  }

  /** Deletes the budget. */
  void delete(String namespace, String podUid) {
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

  /** Removes the label by which the budget selects the pod. */
  void unlabel(Pod pod) {
    if (Marks.labels(pod).containsKey(Api.EVICTION_LABEL)) {
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

  private static boolean covers(PodDisruptionBudget budget, Map<String, String> labels) {
    LabelSelector selector = budget.getSpec().getSelector();
    return selector != null && new Selector(selector).matches(labels);
  }
}
