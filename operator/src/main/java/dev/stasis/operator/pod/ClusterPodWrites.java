package dev.stasis.operator.pod;

import dev.stasis.operator.cluster.RecentMap;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.cluster.StaleWrites;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.Client;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes pods through the API server. */
@Singleton
public class ClusterPodWrites implements PodWrites {

  /** The API server's answer to an eviction that a PodDisruptionBudget refuses. */
  private static final int TOO_MANY_REQUESTS = 429;

  /** Part of the API server's answer, with code 500, for a pod that it never evicts. */
  private static final String SEVERAL_BUDGETS = "more than one PodDisruptionBudget";

  /** From this code on the API server itself has failed. */
  private static final int SERVER_ERRORS = 500;

  /** One condition for each pod with an operation: far more than exist at a time. */
  private static final int REMEMBERED = 10_000;

  private final KubernetesClient client;

  /**
   * Sends each eviction once: Fabric8 would repeat one that a budget refuses (429) within
   * milliseconds.
   */
  private final Client once;

  private final Clock clock;
  private final RepeatedRequests repeated;

  /** Uids of pods that are gone: uids are never reused. */
  private final RecentMap<String, Boolean> gone = new RecentMap<>(REMEMBERED);

  /**
   * Conditions written by this operator, by pod and type. Only the operator writes them, and the
   * watch of the pod may lag behind: a condition that it does not show yet must still be removed.
   */
  private final RecentMap<String, PodCondition> written = new RecentMap<>(REMEMBERED);

  public ClusterPodWrites(KubernetesClient client, Clock clock) {
    this.client = client;
    this.once =
        client.newClient(
            new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                .withRequestRetryBackoffLimit(0)
                .build());
    this.clock = clock;
    this.repeated = new RepeatedRequests(clock);
  }

  @Override
  public Optional<Pod> fresh(String namespace, String name) {
    return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get());
  }

  @Override
  public Optional<Pod> fresh(String namespace, String name, @Nullable String uid) {
    if (uid == null || gone.get(uid).isPresent()) {
      return Optional.empty();
    }
    Optional<Pod> found =
        fresh(namespace, name).filter(pod -> uid.equals(pod.getMetadata().getUid()));
    if (found.isEmpty()) {
      gone.put(uid, true);
    }
    return found;
  }

  @Override
  public void condition(Pod pod, PodConditionUpdate mark) {
    String key = pod.getMetadata().getUid() + "/" + mark.type();
    Optional<PodCondition> before =
        written.get(key).or(() -> new PodState(pod).condition(mark.type()));
    String status = mark.status() ? "True" : "False";
    boolean same = before.filter(it -> status.equals(it.getStatus())).isPresent();
    if (same && before.filter(it -> mark.message().equals(it.getMessage())).isPresent()) {
      return;
    }
    if (before.isEmpty() && !mark.status()) {
      return;
    }
    String since =
        same
            ? before.orElseThrow().getLastTransitionTime()
            : clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    Map<String, Object> condition =
        Map.of(
            "type", mark.type(),
            "status", status,
            "reason", mark.reason(),
            "message", mark.message(),
            "lastTransitionTime", since);
    // The API server refuses the uid of a former pod.
    Map<String, Object> patch =
        Map.of(
            "metadata", Map.of("uid", pod.getMetadata().getUid()),
            "status", Map.of("conditions", List.of(condition)));
    StaleWrites.ignore(
        () -> {
          handle(pod)
              .subresource("status")
              .patch(
                  PatchContext.of(PatchType.STRATEGIC_MERGE),
                  client.getKubernetesSerialization().asJson(patch));
          written.put(
              key,
              new PodConditionBuilder()
                  .withType(mark.type())
                  .withStatus(status)
                  .withMessage(mark.message())
                  .withLastTransitionTime(since)
                  .build());
        });
  }

  @Override
  public Answer resize(Pod resized, boolean dryRun) {
    Map<String, Object> patch =
        Map.of(
            "metadata",
            Map.of("uid", resized.getMetadata().getUid()),
            "spec",
            Map.of(
                "containers",
                resized.getSpec().getContainers().stream()
                    .map(
                        container ->
                            Map.of(
                                "name",
                                container.getName(),
                                "resources",
                                Objects.requireNonNullElse(container.getResources(), Map.of())))
                    .toList()));
    String json = client.getKubernetesSerialization().asJson(patch);
    if (dryRun) {
      // The refusal concerns only this request; the next one may succeed.
      return resized(resized, json, true);
    }
    String key = resized.getMetadata().getUid() + "/resize";
    return repeated
        .current(key, json)
        .orElseGet(() -> repeated.answered(key, json, resized(resized, json, false)));
  }

  private Answer resized(Pod resized, String patch, boolean dryRun) {
    PatchContext context =
        new PatchContext.Builder()
            .withPatchType(PatchType.STRATEGIC_MERGE)
            .withDryRun(dryRun ? List.of("All") : null)
            .build();
    try {
      handle(resized).subresource("resize").patch(context, patch);
      return new Accepted();
    } catch (KubernetesClientException e) {
      return refused(e);
    }
  }

  @Override
  public Answer evict(Pod pod, boolean dryRun) {
    String key = pod.getMetadata().getUid() + (dryRun ? "/dry-run" : "");
    return repeated.current(key, "").orElseGet(() -> repeated.refused(key, asked(pod, dryRun)));
  }

  private Answer asked(Pod pod, boolean dryRun) {
    Eviction eviction =
        new EvictionBuilder()
            .withNewMetadata()
            .withNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getMetadata().getName())
            .endMetadata()
            .withDeleteOptions(
                new DeleteOptionsBuilder()
                    .withNewPreconditions()
                    .withUid(pod.getMetadata().getUid())
                    .endPreconditions()
                    .withDryRun(dryRun ? List.of("All") : null)
                    .build())
            .build();
    try {
      once.raw(
          "/api/v1/namespaces/%s/pods/%s/eviction"
              .formatted(pod.getMetadata().getNamespace(), pod.getMetadata().getName()),
          "POST",
          eviction);
      return new Accepted();
    } catch (KubernetesClientException e) {
      String sentence = RefusedCreates.sentence(e);
      return sentence.contains(SEVERAL_BUDGETS) ? new Refused(sentence, false) : refused(e);
    }
  }

  private static Answer refused(KubernetesClientException e) {
    if (e.getCode() >= SERVER_ERRORS || e.getCode() == 0) {
      throw e;
    }
    return new Refused(RefusedCreates.sentence(e), e.getCode() == TOO_MANY_REQUESTS);
  }

  /** Without an object the client would read it from the API server before each patch. */
  private PodResource handle(Pod pod) {
    return client
        .pods()
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getMetadata().getName())
                .endMetadata()
                .build());
  }
}
