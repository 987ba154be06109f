package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.ProbePolicy;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.store.SharedStores;
import io.fabric8.kubernetes.api.model.Namespace;
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

/** Reads and writes the attempts to checkpoint a pod before its eviction. */
@Singleton
class EvictionAttempts {

  private static final System.Logger LOG = System.getLogger(EvictionAttempts.class.getName());

  /** Unpredictable letters; the name is limited to 63 characters and has space for them. */
  private static final int UNFORESEEN = 6;

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final KubernetesClient client;
  private final Cluster cluster;
  private final String system;
  private final SharedStores shared = new SharedStores();

  EvictionAttempts(KubernetesClient client, Cluster cluster, StasisConfig config) {
    this.client = client;
    this.cluster = cluster;
    this.system = config.namespace();
  }

  /** Returns the attempts for a pod in order, read from the API server, not from a cache. */
  List<EvictionAttempt> of(Pod pod) {
    return client
        .resources(GpuCheckpoint.class)
        .inNamespace(pod.getMetadata().getNamespace())
        .withLabel(Api.EVICTION_LABEL, pod.getMetadata().getUid())
        .list()
        .getItems()
        .stream()
        .map(EvictionAttempt::new)
        .sorted(Comparator.comparingInt(EvictionAttempt::number))
        .toList();
  }

  /** Returns its operation, read from the API server, not from a cache. */
  Optional<OperationView> freeze(EvictionAttempt attempt) {
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

  /** Starts an attempt; empty if another replica was faster. */
  Optional<GpuCheckpoint> begin(Pod pod, int number, Instant since, Instant now, Duration left) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(pod.getMetadata().getNamespace())
            .withName(EvictionAttempt.name(pod, number))
            .addToLabels(Api.EVICTION_LABEL, pod.getMetadata().getUid())
            .addToAnnotations(Api.EVICT_SINCE_ANNOTATION, text(since))
            .addToAnnotations(Api.EVICT_REQUESTED_ANNOTATION, text(now))
            .build());
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodRef(new PodReference(pod.getMetadata().getName(), pod.getMetadata().getUid()));
    spec.setAfterCheckpoint(AfterCheckpoint.EVICT);
    store(pod).ifPresent(name -> spec.setStorageRef(NameReference.of(name)));
    // Otherwise all containers of the pod would be restarted.
    spec.getOptions().setSidecarPolicy(SidecarPolicy.RESTART);
    spec.getOptions().setProbePolicy(ProbePolicy.EMULATE);
    spec.getOptions().limit(left);
    checkpoint.setSpec(spec);
    Optional<GpuCheckpoint> made = create(checkpoint);
    if (made.isPresent() || isOfAnotherReplica(checkpoint)) {
      return made;
    }
    checkpoint
        .getMetadata()
        .setName(
            EvictionAttempt.name(
                pod, number, UUID.randomUUID().toString().substring(0, UNFORESEEN)));
    return create(checkpoint);
  }

  private Optional<GpuCheckpoint> create(GpuCheckpoint checkpoint) {
    try {
      return Optional.of(client.resource(checkpoint).create());
    } catch (KubernetesClientException e) {
      if (RefusedCreates.isNameTaken(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Users cannot set the label: a checkpoint of the name without it was created by a user. */
  private boolean isOfAnotherReplica(GpuCheckpoint wanted) {
    GpuCheckpoint there = client.resource(wanted).get();
    return there == null
        || Marks.label(there, Api.EVICTION_LABEL).equals(Marks.label(wanted, Api.EVICTION_LABEL));
  }

  /**
   * Annotates the pod with the time of the first eviction request. Users can delete a
   * GpuCheckpoint, but cannot change the annotation, so the deadline holds. If the annotation
   * cannot be written, the eviction is still refused for now.
   */
  void since(Pod pod, Instant since) {
    if (!EvictionAttempt.since(pod).map(EvictionAttempts::text).equals(Optional.of(text(since)))) {
      annotate(pod, text(since));
    }
  }

  /** Removes the annotation: a later eviction has its own deadline. */
  void unannotate(Pod pod) {
    if (EvictionAttempt.since(pod).isPresent()) {
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

  /** Returns a store that other nodes can read, if the default one is a disk of this node. */
  private Optional<String> store(Pod pod) {
    Namespace namespace = cluster.namespaceOrName(pod.getMetadata().getNamespace());
    boolean staysHere =
        cluster.stores().stream()
            .filter(store -> Boolean.TRUE.equals(store.getSpec().getIsDefault()))
            .noneMatch(shared::isReachedElsewhere);
    return staysHere
        ? shared
            .firstReachedElsewhere(
                cluster.stores(), namespace, cluster.gpuNode(pod.getSpec().getNodeName()))
            .map(store -> store.getMetadata().getName())
        : Optional.empty();
  }

  /** Records that the eviction was requested. */
  void requested(EvictionAttempt attempt, Instant now) {
    annotate(attempt, Api.EVICT_REQUESTED_ANNOTATION, text(now), false);
  }

  /**
   * The same as a compare-and-swap with {@link #cancel}: only one of the two succeeds.
   *
   * @return whether it succeeded
   */
  boolean claim(EvictionAttempt attempt, Instant now) {
    return annotate(attempt, Api.EVICT_REQUESTED_ANNOTATION, text(now), true);
  }

  /** Cancels the attempt unless the eviction was requested meanwhile. */
  boolean cancel(EvictionAttempt attempt) {
    return patch(attempt, Map.of("spec", Api.CANCEL), true);
  }

  /**
   * Creates a GpuRestore for the pod.
   *
   * @param keep how long it is kept after its end, at least as long as the attempt
   */
  void restore(EvictionAttempt attempt, Duration keep) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(attempt.checkpoint().getMetadata().getNamespace())
            .withName(attempt.name())
            .withLabels(attempt.checkpoint().getMetadata().getLabels())
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(attempt.name()));
    restore.getSpec().getOptions().setTtlSecondsAfterFinished(Math.toIntExact(keep.toSeconds()));
    try {
      client.resource(restore).create();
    } catch (KubernetesClientException e) {
      if (!RefusedCreates.isNameTaken(e)) {
        throw e;
      }
    }
    annotate(attempt, Api.EVICT_RESTORE_ANNOTATION, attempt.name(), false);
  }

  /**
   * Deletes the attempt. A finished restore shows that the artifact is not the only copy, so it is
   * deleted after the attempt, by its time to live. One that still waits for the artifact of a
   * failed attempt would wait for ever, and the attempt would wait for that restore.
   */
  void delete(EvictionAttempt attempt) {
    String namespace = attempt.checkpoint().getMetadata().getNamespace();
    attempt
        .restore()
        .flatMap(name -> cluster.find(GpuRestore.class, namespace + "/" + name))
        .filter(restore -> !CurrentPhase.of(restore).isFinal())
        .ifPresent(restore -> client.resource(restore).delete());
    client.resource(attempt.checkpoint()).delete();
  }

  private boolean annotate(EvictionAttempt attempt, String key, String value, boolean locked) {
    return patch(attempt, Map.of("metadata", Map.of("annotations", Map.of(key, value))), locked);
  }

  private boolean patch(EvictionAttempt attempt, Map<String, Object> change, boolean locked) {
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

  private Resource<GpuCheckpoint> handle(EvictionAttempt attempt) {
    return client
        .resources(GpuCheckpoint.class)
        .inNamespace(attempt.checkpoint().getMetadata().getNamespace())
        .withName(attempt.name());
  }

  private static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
