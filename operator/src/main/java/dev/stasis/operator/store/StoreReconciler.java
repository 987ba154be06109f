package dev.stasis.operator.store;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.node.NodeStores;
import dev.stasis.operator.status.Changes;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.rate.RateLimited;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reports the contents of each store and whether it can be used: artifacts from their
 * GpuCheckpoints, disks from their nodes' agents.
 */
@ControllerConfiguration(name = "gpucheckpointstore")
// Retried for as long as the API server is unavailable.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// Each agent reports its disk once a minute: many reports trigger one reconciliation.
@RateLimited(maxReconciliations = 1, within = 5)
public class StoreReconciler implements Reconciler<GpuCheckpointStore> {

  /** A claim is bound within seconds, and its deletion must be reported before it is complete. */
  private static final Duration CLAIM_EVERY = Duration.ofSeconds(15);

  private final Informers informers;
  private final StoreStatus writer;
  private final StoreStatusWrites writes;
  private final KubernetesClient client;
  private final ClaimCheck claims;
  private final Changes changes;
  private final SkewGuard skew;
  private final Clock clock;

  StoreReconciler(
      Informers informers,
      KubernetesClient client,
      StasisConfig config,
      Clock clock,
      Changes changes,
      SkewGuard skew) {
    this.informers = informers;
    this.client = client;
    this.claims = new ClaimCheck(config.namespace());
    this.writer = new StoreStatus(clock);
    this.writes = new StoreStatusWrites();
    this.changes = changes;
    this.skew = skew;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, GpuCheckpointStore>> prepareEventSources(
      EventSourceContext<GpuCheckpointStore> context) {
    return List.of(
        new WishSource<>(GpuCheckpointStore.class, informers),
        new ClusterSource<GpuNode, GpuCheckpointStore>(
            GpuNode.class, informers, StoreReconciler::ofNode),
        new ClusterSource<GpuCheckpoint, GpuCheckpointStore>(
            GpuCheckpoint.class, informers, StoreReconciler::ofCheckpoint),
        new ClusterSource<GpuCheckpointStore, GpuCheckpointStore>(
            GpuCheckpointStore.class, informers, this::ofDefault));
  }

  @Override
  public UpdateControl<GpuCheckpointStore> reconcile(
      GpuCheckpointStore store, Context<GpuCheckpointStore> context) {
    if (skew.holds(store)) {
      return UpdateControl.noUpdate();
    }
    boolean first = store.getStatus() == null;
    if (first) {
      store.setStatus(new GpuCheckpointStoreStatus());
    }
    JsonNode before = changes.snapshot(store.getStatus());
    try (LogContext fields = LogContext.of(store)) {
      StoreFacts facts =
          StoreFacts.of(
              store, informers.gpuNodes(), informers.checkpointsIn(store.getMetadata().getName()));
      store.getStatus().setVolume(volume(facts));
      writer.write(facts, informers.stores(), names(facts), store.getStatus());
    }
    Optional<Duration> due =
        writes.due(
            store.getMetadata().getName(),
            before,
            changes.snapshot(store.getStatus()),
            clock.instant());
    boolean now = first || due.filter(Duration::isZero).isPresent();
    UpdateControl<GpuCheckpointStore> control =
        now ? UpdateControl.patchStatus(store) : UpdateControl.noUpdate();
    // The operator watches no claims: most of a cluster belong to no store.
    Stream.concat(
            now ? Stream.empty() : due.stream(),
            Stream.ofNullable(store.getSpec().getLocation().persistentVolumeClaim())
                .map(claim -> CLAIM_EVERY))
        .min(Comparator.naturalOrder())
        .ifPresent(control::rescheduleAfter);
    return control;
  }

  private @Nullable VolumeStatus volume(StoreFacts facts) {
    ClaimVolume source = facts.store().getSpec().getLocation().persistentVolumeClaim();
    if (source == null) {
      return null;
    }
    // The client gives up after 10 s, as for every request; the reconciliation is then repeated.
    return claims.volume(
        source,
        Optional.ofNullable(
            client
                .persistentVolumeClaims()
                .inNamespace(claims.namespace())
                .withName(source.claimName())
                .get()),
        facts.store().getStatus().getVolume(),
        facts.views());
  }

  /** Returns the names of the namespaces with artifacts, now or before, by their UID. */
  private Map<String, String> names(StoreFacts facts) {
    Map<String, String> names = new HashMap<>();
    Stream.concat(
            facts.held().stream().map(StoreFacts.Held::namespace),
            facts.measured().namespaces().keySet().stream())
        .distinct()
        .forEach(
            name ->
                informers
                    .namespace(name)
                    .ifPresent(found -> names.put(found.getMetadata().getUid(), name)));
    return names;
  }

  /** Returns the stores with a change in an agent's report. */
  private static List<ResourceID> ofNode(Changed<GpuNode> change) {
    List<NodeStore> before = change.before().map(it -> NodeStores.of(it).list()).orElse(List.of());
    List<NodeStore> after = change.after().map(it -> NodeStores.of(it).list()).orElse(List.of());
    return Stream.concat(
            before.stream().filter(seen -> !after.contains(seen)),
            after.stream().filter(seen -> !before.contains(seen)))
        .map(seen -> new ResourceID(seen.name()))
        .distinct()
        .toList();
  }

  /** Returns the stores in which an artifact was added, changed or removed. */
  private static List<ResourceID> ofCheckpoint(Changed<GpuCheckpoint> change) {
    String before = change.before().map(StoreReconciler::held).orElse("");
    String after = change.after().map(StoreReconciler::held).orElse("");
    return before.equals(after)
        ? List.of()
        : Stream.of(change.before(), change.after())
            .flatMap(Optional::stream)
            .map(StoreReconciler::artifact)
            .flatMap(Optional::stream)
            .map(ArtifactStatus::getStore)
            .filter(Objects::nonNull)
            .distinct()
            .map(ResourceID::new)
            .toList();
  }

  private static String held(GpuCheckpoint checkpoint) {
    return artifact(checkpoint)
        .map(
            it -> it.getStore() + "/" + it.getBytes() + "/" + it.getNode() + "/" + it.getNewBytes())
        .orElse("");
  }

  private static Optional<ArtifactStatus> artifact(GpuCheckpoint checkpoint) {
    return Optional.ofNullable(checkpoint.getStatus()).map(status -> status.getArtifact());
  }

  /** A change of the default affects all stores. */
  private List<ResourceID> ofDefault(Changed<GpuCheckpointStore> change) {
    boolean before = change.before().filter(StoreReconciler::isDefault).isPresent();
    boolean after = change.after().filter(StoreReconciler::isDefault).isPresent();
    return before == after
        ? List.of()
        : informers.stores().stream()
            .map(HasMetadata::getMetadata)
            .map(metadata -> new ResourceID(metadata.getName()))
            .toList();
  }

  private static boolean isDefault(GpuCheckpointStore store) {
    return Boolean.TRUE.equals(store.getSpec().getIsDefault());
  }
}
