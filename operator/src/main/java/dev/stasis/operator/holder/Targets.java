package dev.stasis.operator.holder;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.pod.JobPods;
import dev.stasis.operator.pod.Owners;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Target pods in the API server. */
@Singleton
public class Targets {

  /** The API server, or a proxy before it, is overloaded: the answer does not concern the pod. */
  private static final Set<Integer> TRY_AGAIN = Set.of(0, 429, 502, 503, 504);

  private final KubernetesClient client;
  private final JobPods jobs;

  public Targets(KubernetesClient client) {
    this.client = client;
    this.jobs = new JobPods(client);
  }

  /** The API server's answer to a pod. */
  public sealed interface Answer {}

  /** It accepts the pod; the result is its version. */
  public record Accepted(Pod pod) implements Answer {}

  /** Another pod has the name. */
  public record Taken() implements Answer {}

  /** A quota, a policy or a webhook refuses it, with its message. */
  public record Refused(String sentence) implements Answer {}

  /** Returns all pods that were created for the object with that uid, read from the API server. */
  public List<Pod> madeFor(String namespace, String uid) {
    return client
        .pods()
        .inNamespace(namespace)
        .withLabel(Api.OPERATION_UID_LABEL, uid)
        .list()
        .getItems();
  }

  /** Creates the pod, or only tests whether it would be accepted. */
  public Answer create(Pod pod, boolean dryRun) {
    try {
      return new Accepted(client.resource(pod).dryRun(dryRun).create());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT && !RefusedCreates.isNameTaken(e)) {
        throw e;
      }
      return refused(e);
    }
  }

  private static Answer refused(KubernetesClientException e) {
    if (TRY_AGAIN.contains(e.getCode())) {
      throw e;
    }
    if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
      return new Taken();
    }
    return new Refused(RefusedCreates.sentence(e));
  }

  /**
   * Changes a pod that is held by a scheduling gate; conflicts if another client has changed it.
   */
  public Answer change(Pod pod) {
    Map<String, Object> patch =
        Map.of(
            "metadata",
            Map.of(
                "resourceVersion", pod.getMetadata().getResourceVersion(),
                "labels", pod.getMetadata().getLabels(),
                "annotations", pod.getMetadata().getAnnotations()),
            "spec",
            Map.of(
                "schedulingGates",
                pod.getSpec().getSchedulingGates(),
                "nodeSelector",
                Objects.requireNonNullElse(pod.getSpec().getNodeSelector(), Map.of()),
                "affinity",
                Objects.requireNonNullElseGet(pod.getSpec().getAffinity(), Affinity::new)));
    try {
      return new Accepted(
          client
              .pods()
              .inNamespace(pod.getMetadata().getNamespace())
              .withName(pod.getMetadata().getName())
              .patch(
                  PatchContext.of(PatchType.JSON_MERGE),
                  client.getKubernetesSerialization().asJson(patch)));
    } catch (KubernetesClientException e) {
      return e.getCode() == HttpURLConnection.HTTP_NOT_FOUND ? new Taken() : refused(e);
    }
  }

  /**
   * Deletes it, but no other pod with that name; succeeds if it is gone. A Job does not count it as
   * failed.
   */
  public void remove(Pod pod) {
    if (Owners.of(pod).filter(Owners::isJob).isPresent()) {
      jobs.release(pod);
    }
    DeleteOptions thisOne =
        new DeleteOptionsBuilder()
            .withApiVersion("v1")
            .withKind("DeleteOptions")
            .withNewPreconditions()
            .withUid(pod.getMetadata().getUid())
            .endPreconditions()
            .build();
    try {
      client.raw(
          "/api/v1/namespaces/%s/pods/%s"
              .formatted(pod.getMetadata().getNamespace(), pod.getMetadata().getName()),
          "DELETE",
          thisOne);
    } catch (KubernetesClientException e) {
      boolean gone =
          e.getCode() == HttpURLConnection.HTTP_NOT_FOUND
              || e.getCode() == HttpURLConnection.HTTP_CONFLICT;
      if (!gone) {
        throw e;
      }
    }
  }

  /** Returns the state of a controller. One that cannot be read counts as existing. */
  public Standing standing(String namespace, OwnerReference owner) {
    try {
      GenericKubernetesResource found =
          client
              .genericKubernetesResources(owner.getApiVersion(), owner.getKind())
              .inNamespace(namespace)
              .withName(owner.getName())
              .get();
      return found != null && found.getMetadata().getUid().equals(owner.getUid())
          ? Standing.of(found)
          : new Standing.Gone();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        return new Standing.Lives(Optional.empty());
      }
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return new Standing.Gone();
      }
      throw e;
    }
  }
}
