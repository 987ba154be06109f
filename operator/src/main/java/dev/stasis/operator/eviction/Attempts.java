package dev.stasis.operator.eviction;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.LivenessPolicy;
import dev.stasis.api.v1alpha1.common.OtherContainers;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.restore.GpuRestoreSpec;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.store.SharedStores;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.lang.System.Logger.Level;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The attempts to save a pod, as objects of the API server. */
@Singleton
class Attempts {

  private static final System.Logger LOG = System.getLogger(Attempts.class.getName());

  /** Unpredictable letters; a name of 63 characters has room for them. */
  private static final int UNFORESEEN = 6;

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private static final Duration SHORTEST = Duration.ofSeconds(10);

  private final KubernetesClient client;
  private final Cluster cluster;
  private final String system;
  private final SharedStores shared = new SharedStores();

  Attempts(KubernetesClient client, Cluster cluster, StasisConfig config) {
    this.client = client;
    this.cluster = cluster;
    this.system = config.namespace();
  }

  /** Those for the pod so far, in order, asked of the API server itself. */
  List<Attempt> of(Pod pod) {
    return client
        .resources(GpuCheckpoint.class)
        .inNamespace(pod.getMetadata().getNamespace())
        .withLabel(Api.EVICTION_LABEL, pod.getMetadata().getUid())
        .list()
        .getItems()
        .stream()
        .map(Attempt::new)
        .sorted(Comparator.comparingInt(Attempt::number))
        .toList();
  }

  /** Its order to the agent, asked of the API server itself. */
  Optional<OperationView> freeze(Attempt attempt) {
    String name =
        new OperationName(
                RequesterKind.CHECKPOINT,
                attempt.checkpoint().getMetadata().getUid(),
                OperationType.CHECKPOINT,
                1)
            .text();
    return Optional.ofNullable(
            client.resources(GpuNodeOperation.class).inNamespace(system).withName(name).get())
        .map(OperationView::of);
  }

  /** Begins one; empty when another replica was faster. */
  Optional<GpuCheckpoint> begin(Pod pod, int number, Instant since, Instant now, Duration left) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(pod.getMetadata().getNamespace())
            .withName(Attempt.name(pod, number))
            .addToLabels(Api.EVICTION_LABEL, pod.getMetadata().getUid())
            .addToAnnotations(Api.EVICT_SINCE_ANNOTATION, text(since))
            .addToAnnotations(Api.EVICT_REQUESTED_ANNOTATION, text(now))
            .build());
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodName(pod.getMetadata().getName());
    spec.setPodUid(pod.getMetadata().getUid());
    spec.setAfterCheckpoint(AfterCheckpoint.EVICT);
    store(pod).ifPresent(spec::setStore);
    // Without it everything of the pod would start anew.
    spec.setOtherContainers(OtherContainers.START_ANEW);
    spec.setLivenessPolicy(LivenessPolicy.ANSWER);
    Duration deadline = left.compareTo(SHORTEST) < 0 ? SHORTEST : left;
    spec.setDeadline(TimeSpan.of(deadline.toSeconds() + "s"));
    if (deadline.compareTo(spec.getLockTimeout().duration()) < 0) {
      spec.setLockTimeout(spec.getDeadline());
    }
    checkpoint.setSpec(spec);
    Optional<GpuCheckpoint> made = create(checkpoint);
    if (made.isPresent() || isOfAnotherReplica(checkpoint)) {
      return made;
    }
    checkpoint
        .getMetadata()
        .setName(Attempt.name(pod, number, UUID.randomUUID().toString().substring(0, UNFORESEEN)));
    return create(checkpoint);
  }

  private Optional<GpuCheckpoint> create(GpuCheckpoint checkpoint) {
    try {
      return Optional.of(client.resource(checkpoint).create());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Users cannot set the label, so one without it is a user's, and in the way. */
  private boolean isOfAnotherReplica(GpuCheckpoint wanted) {
    GpuCheckpoint there = client.resource(wanted).get();
    return there == null || eviction(there).equals(eviction(wanted));
  }

  private static Optional<String> eviction(GpuCheckpoint checkpoint) {
    return Optional.ofNullable(checkpoint.getMetadata().getLabels())
        .map(labels -> labels.get(Api.EVICTION_LABEL));
  }

  /**
   * Writes on the pod since when its eviction is asked for. A user can delete a GpuCheckpoint, but
   * not change this, so that the deadline holds. Where it cannot be written the eviction is held
   * all the same.
   */
  void since(Pod pod, Instant since) {
    if (!Attempt.since(pod).map(Attempts::text).equals(Optional.of(text(since)))) {
      annotate(pod, text(since));
    }
  }

  /** The eviction was given up: another one has a deadline of its own. */
  void forget(Pod pod) {
    if (Attempt.since(pod).isPresent()) {
      annotate(pod, null);
    }
  }

  private void annotate(Pod pod, @Nullable String since) {
    Map<String, @Nullable String> annotations = new HashMap<>();
    annotations.put(Api.EVICT_SINCE_ANNOTATION, since);
    ObjectMeta known = pod.getMetadata();
    Map<String, Object> patch =
        Map.of("metadata", Map.of("uid", known.getUid(), "annotations", annotations));
    try {
      client
          .pods()
          .inNamespace(known.getNamespace())
          .withName(known.getName())
          .patch(MERGE, client.getKubernetesSerialization().asJson(patch));
    } catch (KubernetesClientException e) {
      LOG.log(Level.WARNING, "pod " + known.getName() + ": evict-since: " + e.getMessage());
    }
  }

  /** A store that other nodes reach too, where the default one is a disk of this node. */
  private Optional<String> store(Pod pod) {
    Namespace namespace =
        cluster
            .namespace(pod.getMetadata().getNamespace())
            .orElseGet(
                () ->
                    new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(pod.getMetadata().getNamespace())
                        .endMetadata()
                        .build());
    boolean staysHere =
        cluster.stores().stream()
            .filter(store -> Boolean.TRUE.equals(store.getSpec().getIsDefault()))
            .noneMatch(shared::is);
    return staysHere
        ? shared
            .first(cluster.stores(), namespace, cluster.gpuNode(pod.getSpec().getNodeName()))
            .map(store -> store.getMetadata().getName())
        : Optional.empty();
  }

  /** Writes down that the eviction was asked for. */
  void requested(Attempt attempt, Instant now) {
    annotate(attempt, Api.EVICT_REQUESTED_ANNOTATION, text(now), false);
  }

  /**
   * The same as a compare-and-swap with {@link #cancel}: only one of the two succeeds.
   *
   * @return whether it did
   */
  boolean claim(Attempt attempt, Instant now) {
    return annotate(attempt, Api.EVICT_REQUESTED_ANNOTATION, text(now), true);
  }

  /** Undoes it, unless it was asked for meanwhile. */
  boolean cancel(Attempt attempt) {
    return patch(attempt, Map.of("spec", Map.of("cancel", true)), true);
  }

  /** Leaves a request to bring the pod back. */
  void restore(Attempt attempt) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(attempt.checkpoint().getMetadata().getNamespace())
            .withName(attempt.name())
            .withLabels(attempt.checkpoint().getMetadata().getLabels())
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointName(attempt.name());
    try {
      client.resource(restore).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
    annotate(attempt, Api.EVICT_RESTORE_ANNOTATION, attempt.name(), false);
  }

  /** Its record goes, and with it that of the restore. */
  void delete(Attempt attempt) {
    attempt
        .restore()
        .ifPresent(
            name ->
                client
                    .resources(GpuRestore.class)
                    .inNamespace(attempt.checkpoint().getMetadata().getNamespace())
                    .withName(name)
                    .delete());
    client.resource(attempt.checkpoint()).delete();
  }

  private boolean annotate(Attempt attempt, String key, String value, boolean locked) {
    return patch(attempt, Map.of("metadata", Map.of("annotations", Map.of(key, value))), locked);
  }

  private boolean patch(Attempt attempt, Map<String, Object> change, boolean locked) {
    Map<String, Object> patch = new HashMap<>(change);
    if (locked) {
      Map<String, Object> metadata = new HashMap<>();
      if (change.get("metadata") instanceof Map<?, ?> given) {
        given.forEach((key, value) -> metadata.put(String.valueOf(key), value));
      }
      metadata.put("resourceVersion", attempt.checkpoint().getMetadata().getResourceVersion());
      patch.put("metadata", metadata);
    }
    try {
      handle(attempt).patch(MERGE, client.getKubernetesSerialization().asJson(patch));
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT
          || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  private Resource<GpuCheckpoint> handle(Attempt attempt) {
    return client
        .resources(GpuCheckpoint.class)
        .inNamespace(attempt.checkpoint().getMetadata().getNamespace())
        .withName(attempt.name());
  }

  private static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
