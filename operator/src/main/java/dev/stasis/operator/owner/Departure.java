package dev.stasis.operator.owner;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.operator.admission.WebhookConfig;
import dev.stasis.operator.pod.JobPods;
import dev.stasis.operator.pod.Owners;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Before the pod of a controller goes: nothing may start cold in its place, nothing may fail. */
@Singleton
public class Departure {

  /** On a pod that is never made: whoever is asked about it refuses it, if it is asked. */
  private static final String PROBE = Api.GROUP + "/probe";

  private final KubernetesClient client;
  private final WebhookConfig config;
  private final JobPods jobs;

  public Departure(KubernetesClient client, WebhookConfig config) {
    this.client = client;
    this.config = config;
    this.jobs = new JobPods(client);
  }

  /** Whether it is only asked whether anybody would be asked. */
  public static boolean isProbe(Pod made) {
    return made.getMetadata().getAnnotations() != null
        && made.getMetadata().getAnnotations().containsKey(PROBE);
  }

  /** Whether the API server asks the operator at all. */
  boolean isEnabled() {
    return config.enabled();
  }

  /** Why no pod of a controller can go without another one that starts cold; empty: it can. */
  public Optional<String> refusal() {
    return config.enabled()
        ? Optional.empty()
        : Optional.of(
            "afterCheckpoint Evict of a pod with a controller: wanted the webhooks of the operator,"
                + " found them switched off");
  }

  /**
   * Makes sure that the pod may be deleted.
   *
   * @return what is still to be waited for; empty: it may
   */
  public Optional<String> prepare(Pod pod) {
    Optional<OwnerReference> owner = Owners.of(pod);
    if (owner.isEmpty()) {
      return Optional.empty();
    }
    String controller = owner.get().getKind() + " " + owner.get().getName();
    if (!isHeldBack(pod, owner.get())) {
      return Optional.of(
          controller + " would still start another pod; the API server is to ask first");
    }
    if (!Owners.isJob(owner.get())) {
      return Optional.empty();
    }
    jobs.release(pod);
    return Optional.of(controller + " releases the pod, so that it does not count as failed");
  }

  /** A Job takes the pod back that it has released. */
  public void takeBack(Pod pod, Pod source) {
    jobs.takeBack(pod, source);
  }

  /**
   * The API server asks the operator before a pod of that controller is made: tried, not believed.
   * With name and annotations of the source: by these a StatefulSet's and an Indexed Job's next pod
   * is known.
   */
  boolean isHeldBack(Pod pod, OwnerReference owner) {
    Pod another =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getMetadata().getName())
            .withAnnotations(
                Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of()))
            .addToAnnotations(PROBE, "true")
            .withOwnerReferences(
                new OwnerReferenceBuilder(owner).withBlockOwnerDeletion(null).build())
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("probe")
            .withImage("probe")
            .endContainer()
            .endSpec()
            .build();
    try {
      client.resource(another).dryRun().create();
      return false;
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage()).contains(HandoverReconciler.WEBHOOK);
    }
  }
}
