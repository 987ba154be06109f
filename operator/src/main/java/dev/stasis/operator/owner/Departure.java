package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.admission.WebhookConfig;
import dev.stasis.operator.pod.JobPods;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.util.Optional;

/**
 * Prepares the deletion of a controller's pod: no pod may have a cold start in its place, and none
 * may count as failed.
 */
@Singleton
public class Departure {

  /** Set on a pod that is never created: the webhook refuses it if it is called. */
  private static final String PROBE = Api.GROUP + "/probe";

  private final KubernetesClient client;
  private final WebhookConfig config;
  private final JobPods jobs;

  public Departure(KubernetesClient client, WebhookConfig config) {
    this.client = client;
    this.config = config;
    this.jobs = new JobPods(client);
  }

  /** Returns whether the request only tests that the webhook is called. */
  public static boolean isProbe(Pod made) {
    return Marks.annotations(made).containsKey(PROBE);
  }

  /** Returns whether the API server calls the webhook. */
  boolean isEnabled() {
    return config.enabled();
  }

  /**
   * Returns why a pod of a controller cannot be deleted without a cold start of another one; empty
   * if it can.
   */
  public Optional<String> refusal() {
    return config.enabled()
        ? Optional.empty()
        : Optional.of(
            "afterCheckpoint Evict of a pod with a controller: expected the webhooks of the"
                + " operator, got them disabled");
  }

  /**
   * Ensures that the pod may be deleted.
   *
   * @return what is still being waited for; empty if it may be deleted
   */
  public Optional<String> prepare(Pod pod) {
    Optional<OwnerReference> owner = Owners.of(pod);
    if (owner.isEmpty()) {
      return Optional.empty();
    }
    String controller = owner.get().getKind() + " " + owner.get().getName();
    if (!isHeldBack(pod, owner.get())) {
      return Optional.of(
          controller
              + " would still start another pod; waiting for the webhook to be called first");
    }
    if (!Owners.isJob(owner.get())) {
      return Optional.empty();
    }
    jobs.release(pod);
    return Optional.of(controller + " releases the pod, so that it does not count as failed");
  }

  /** A Job adopts a released pod again. */
  public void takeBack(Pod pod, Pod source) {
    jobs.takeBack(pod, source);
  }

  /**
   * Tests that the API server calls the operator before a pod of that controller is created. The
   * dry run has name and annotations of the source, which identify the next pod of a StatefulSet or
   * an Indexed Job.
   */
  boolean isHeldBack(Pod pod, OwnerReference owner) {
    Pod another =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getMetadata().getName())
            .withAnnotations(Marks.annotations(pod))
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
