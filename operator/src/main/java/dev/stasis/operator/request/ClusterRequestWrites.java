package dev.stasis.operator.request;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.cluster.RecentMap;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
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

  /** The API server, or a proxy before it, is overloaded: that does not concern the object. */
  private static final Set<Integer> TRY_AGAIN = Set.of(0, 429, 502, 503, 504);

  /**
   * How long a refusal is not questioned: with 200 refused objects, twenty requests per second,
   * however often a reconciler asks.
   */
  private static final Duration REFUSED = Duration.ofSeconds(10);

  /** Far more objects than are refused within that time. */
  private static final int REMEMBERED = 10_000;

  private final KubernetesClient client;
  private final Clock clock;
  private final RecentMap<String, Refusal> refusals = new RecentMap<>(REMEMBERED);

  private record Refusal(String sentence, Instant end) {}

  public ClusterRequestWrites(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  @Override
  public Optional<String> create(HasMetadata request) {
    ObjectMeta meta = request.getMetadata();
    String key = String.join("/", request.getKind(), meta.getNamespace(), meta.getName());
    Optional<Refusal> last = refusals.get(key).filter(it -> clock.instant().isBefore(it.end()));
    if (last.isPresent()) {
      return last.map(Refusal::sentence);
    }
    try {
      unless(CONFLICT, () -> client.resource(request).create());
      return Optional.empty();
    } catch (KubernetesClientException e) {
      if (TRY_AGAIN.contains(e.getCode())) {
        throw e;
      }
      Status status = e.getStatus();
      String words = status == null ? null : status.getMessage();
      String sentence = Objects.requireNonNullElse(words, String.valueOf(e.getMessage()));
      refusals.put(key, new Refusal(sentence, clock.instant().plus(REFUSED)));
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
