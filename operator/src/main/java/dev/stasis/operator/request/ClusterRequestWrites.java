package dev.stasis.operator.request;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.RecentMap;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.status.Backoff;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** Implements {@link RequestWrites} with the API server. */
public final class ClusterRequestWrites implements RequestWrites {

  private static final Set<Integer> CONFLICT = Set.of(HttpURLConnection.HTTP_CONFLICT);

  private static final Set<Integer> GONE_OR_CONFLICT =
      Set.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT);

  /** 422: the pod was bound to a node meanwhile. */
  private static final Set<Integer> NOT_PENDING =
      Set.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT, 422);

  /** Answers to a client error that do not concern the object: 401, 408, 409 and 429. */
  private static final Set<Integer> TRY_AGAIN =
      Set.of(
          HttpURLConnection.HTTP_UNAUTHORIZED,
          HttpURLConnection.HTTP_CLIENT_TIMEOUT,
          HttpURLConnection.HTTP_CONFLICT,
          429);

  /** How long a refusal is not questioned, however often a reconciler asks. */
  private static final Backoff REFUSED = new Backoff(Duration.ofSeconds(10), Backoff.FROZEN);

  /** Far more objects than are refused within that time. */
  private static final int REMEMBERED = 10_000;

  private final KubernetesClient client;
  private final Clock clock;
  private final RecentMap<String, Refusal> refusals = new RecentMap<>(REMEMBERED);

  private record Refusal(String sentence, Instant since, Instant end) {}

  public ClusterRequestWrites(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  @Override
  public Optional<String> create(HasMetadata request) {
    ObjectMeta meta = request.getMetadata();
    String key = String.join("/", request.getKind(), meta.getNamespace(), meta.getName());
    Instant now = clock.instant();
    Optional<Refusal> last = refusals.get(key);
    Optional<Refusal> valid = last.filter(it -> now.isBefore(it.end()));
    if (valid.isPresent()) {
      return valid.map(Refusal::sentence);
    }
    try {
      client.resource(request).create();
      refusals.remove(key);
      return Optional.empty();
    } catch (KubernetesClientException e) {
      if (RefusedCreates.isNameTaken(e)) {
        refusals.remove(key);
        return Optional.empty();
      }
      // A server error also comes from a webhook that does not answer.
      if (e.getCode() / 100 != 4 || TRY_AGAIN.contains(e.getCode())) {
        throw e;
      }
      String sentence = RefusedCreates.sentence(e);
      Instant since = last.map(Refusal::since).orElse(now);
      refusals.put(key, new Refusal(sentence, since, now.plus(REFUSED.after(since, now))));
      return Optional.of(sentence);
    }
  }

  @Override
  public void cancel(GpuCheckpoint checkpoint) {
    client
        .resource(checkpoint)
        .edit(
            it -> {
              it.getSpec().getOptions().setCancel(true);
              return it;
            });
  }

  @Override
  public void delete(HasMetadata request) {
    client.resource(request).delete();
  }

  @Override
  public boolean deleteUnchanged(HasMetadata request) {
    AtomicBoolean deleted = new AtomicBoolean();
    unless(
        CONFLICT,
        () -> deleted.set(!client.resource(request).lockResourceVersion().delete().isEmpty()));
    return deleted.get();
  }

  @Override
  public void deletePod(Pod pod, boolean force) {
    ObjectMeta meta = pod.getMetadata();
    var options =
        new DeleteOptionsBuilder()
            .withApiVersion("v1")
            .withKind("DeleteOptions")
            .withGracePeriodSeconds(force ? 0L : null)
            .withNewPreconditions()
            .withUid(meta.getUid())
            .endPreconditions()
            .build();
    String path = "/api/v1/namespaces/%s/pods/%s".formatted(meta.getNamespace(), meta.getName());
    unless(GONE_OR_CONFLICT, () -> client.raw(path, "DELETE", options));
  }

  @Override
  public boolean nominate(Pod pod, String node) {
    ObjectMeta meta = pod.getMetadata();
    // The API server refuses the uid of a former pod of the name.
    Map<String, Object> patch =
        Map.of(
            "metadata", Map.of("uid", meta.getUid()),
            "status", Map.of("nominatedNodeName", node));
    return unless(
        NOT_PENDING,
        () ->
            client
                .pods()
                .inNamespace(meta.getNamespace())
                .withName(meta.getName())
                .subresource("status")
                .patch(
                    PatchContext.of(PatchType.STRATEGIC_MERGE),
                    client.getKubernetesSerialization().asJson(patch)));
  }

  /** Returns whether the API server accepted the write; false if it answered one of the codes. */
  private static boolean unless(Set<Integer> codes, Runnable write) {
    try {
      write.run();
      return true;
    } catch (KubernetesClientException e) {
      if (!codes.contains(e.getCode())) {
        throw e;
      }
      return false;
    }
  }
}
