package dev.stasis.operator.pod;

import dev.stasis.operator.cluster.StaleWrites;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.Status;
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
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Writes on pods by the API server. */
@Singleton
public class ClusterPodWrites implements PodWrites {

  /** The API server's answer to an eviction that a PodDisruptionBudget refuses. */
  private static final int TOO_MANY_REQUESTS = 429;

  /** What the API server says, with the code 500, of a pod that it never evicts. */
  private static final String SEVERAL_BUDGETS = "more than one PodDisruptionBudget";

  /** From here on the API server itself is in trouble. */
  private static final int SERVER_ERRORS = 500;

  /** One mark of a pod that is worked on; far more than are worked on at once. */
  private static final int REMEMBERED = 10_000;

  private final KubernetesClient client;

  /**
   * Sends each eviction once: Fabric8 would repeat one that a budget refuses (429) within
   * milliseconds.
   */
  private final Client once;

  private final Clock clock;
  private final RefusedEvictions refusedEvictions;

  /**
   * Marks that this operator wrote, by pod and type. Nobody else writes them, and the watch that
   * shows the pod may lag behind: a mark that it does not show yet has to be taken back all the
   * same.
   */
  private final Map<String, PodCondition> written =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, PodCondition> eldest) {
              return size() > REMEMBERED;
            }
          });

  public ClusterPodWrites(KubernetesClient client, Clock clock) {
    this.client = client;
    this.once =
        client.newClient(
            new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                .withRequestRetryBackoffLimit(0)
                .build());
    this.clock = clock;
    this.refusedEvictions = new RefusedEvictions(clock);
  }

  @Override
  public Optional<Pod> fresh(String namespace, String name) {
    return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get());
  }

  @Override
  public void condition(Pod pod, Mark mark) {
    String key = pod.getMetadata().getUid() + "/" + mark.type();
    Optional<PodCondition> before =
        Optional.ofNullable(written.get(key)).or(() -> condition(pod, mark.type()));
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
    try {
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
    } catch (KubernetesClientException e) {
      if (!StaleWrites.isStale(e)) {
        throw e;
      }
    }
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
    PatchContext context =
        new PatchContext.Builder()
            .withPatchType(PatchType.STRATEGIC_MERGE)
            .withDryRun(dryRun ? List.of("All") : null)
            .build();
    try {
      handle(resized)
          .subresource("resize")
          .patch(context, client.getKubernetesSerialization().asJson(patch));
      return new Accepted();
    } catch (KubernetesClientException e) {
      return refused(e);
    }
  }

  @Override
  public Answer evict(Pod pod, boolean dryRun) {
    String key = pod.getMetadata().getUid() + (dryRun ? "/dry-run" : "");
    return refusedEvictions
        .current(key)
        .orElseGet(() -> refusedEvictions.answered(key, asked(pod, dryRun)));
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
      return sentence(e).contains(SEVERAL_BUDGETS) ? new Refused(sentence(e), false) : refused(e);
    }
  }

  private static Answer refused(KubernetesClientException e) {
    if (e.getCode() >= SERVER_ERRORS || e.getCode() == 0) {
      throw e;
    }
    return new Refused(sentence(e), e.getCode() == TOO_MANY_REQUESTS);
  }

  private static String sentence(KubernetesClientException e) {
    Status status = e.getStatus();
    String words = status == null ? null : status.getMessage();
    return Objects.requireNonNullElse(words, String.valueOf(e.getMessage()));
  }

  private PodResource handle(Pod pod) {
    return client
        .pods()
        .inNamespace(pod.getMetadata().getNamespace())
        .withName(pod.getMetadata().getName());
  }

  private static Optional<PodCondition> condition(Pod pod, String type) {
    return pod.getStatus() == null
        ? Optional.empty()
        : pod.getStatus().getConditions().stream()
            .filter(condition -> condition.getType().equals(type))
            .findFirst();
  }
}
