package dev.stasis.operator.store;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.node.NodeStore;
import dev.stasis.api.v1alpha1.store.GpuCheckpointStoreStatus;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.status.Change;
import dev.stasis.operator.status.Changes;
import io.fabric8.kubernetes.api.model.HasMetadata;
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
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Says of each store what lies there and whether it can be used. An artifact that is there is
 * counted by its GpuCheckpoint, a disk by the agent of its node.
 */
@ControllerConfiguration(name = "gpucheckpointstore")
// An API server that is away comes back: it is asked again for as long as it takes.
@GradualRetry(maxAttempts = -1, initialInterval = 1000, intervalMultiplier = 2, maxInterval = 60000)
// Every disk changes all the time, and every agent says so once a minute: one write in five seconds
// is what a person can read, and all that 500 nodes cost.
@RateLimited(maxReconciliations = 1, within = 5)
public class StoreReconciler implements Reconciler<GpuCheckpointStore> {

  private final Informers informers;
  private final StoreStatus writer;
  private final Changes changes;

  StoreReconciler(Informers informers, Clock clock, Changes changes) {
    this.informers = informers;
    this.writer = new StoreStatus(clock);
    this.changes = changes;
  }

  @Override
  public List<EventSource<?, GpuCheckpointStore>> prepareEventSources(
      EventSourceContext<GpuCheckpointStore> context) {
    return List.of(
        new WishSource<>(GpuCheckpointStore.class, informers),
        new ClusterSource<GpuNode, GpuCheckpointStore>(
            GpuNode.class, informers, StoreReconciler::seenOn),
        new ClusterSource<GpuCheckpoint, GpuCheckpointStore>(
            GpuCheckpoint.class, informers, StoreReconciler::heldBy),
        new ClusterSource<GpuCheckpointStore, GpuCheckpointStore>(
            GpuCheckpointStore.class, informers, this::beside));
  }

  @Override
  public UpdateControl<GpuCheckpointStore> reconcile(
      GpuCheckpointStore store, Context<GpuCheckpointStore> context) {
    boolean first = store.getStatus() == null;
    if (first) {
      store.setStatus(new GpuCheckpointStoreStatus());
    }
    JsonNode before = changes.snapshot(store.getStatus());
    try (LogContext fields = LogContext.of(store)) {
      StoreFacts facts =
          StoreFacts.of(
              store, informers.gpuNodes(), informers.checkpointsIn(store.getMetadata().getName()));
      writer.write(facts, informers.stores(), store.getStatus());
    }
    boolean changed = first || changes.between(before, store.getStatus()) != Change.NONE;
    return changed ? UpdateControl.patchStatus(store) : UpdateControl.noUpdate();
  }

  /** The stores of which an agent says something else than before. */
  private static List<ResourceID> seenOn(Changed<GpuNode> change) {
    List<NodeStore> before = change.before().map(StoreReconciler::stores).orElse(List.of());
    List<NodeStore> after = change.after().map(StoreReconciler::stores).orElse(List.of());
    return Stream.concat(
            before.stream().filter(seen -> !after.contains(seen)),
            after.stream().filter(seen -> !before.contains(seen)))
        .map(seen -> new ResourceID(seen.name()))
        .distinct()
        .toList();
  }

  private static List<NodeStore> stores(GpuNode node) {
    return node.getStatus() == null
        ? List.of()
        : Objects.requireNonNullElse(node.getStatus().getStores(), List.of());
  }

  /** The stores in which an artifact appeared, changed or went. */
  private static List<ResourceID> heldBy(Changed<GpuCheckpoint> change) {
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
    return artifact(checkpoint).map(it -> it.getStore() + "/" + it.getBytes()).orElse("");
  }

  private static Optional<ArtifactStatus> artifact(GpuCheckpoint checkpoint) {
    return Optional.ofNullable(checkpoint.getStatus()).map(status -> status.getArtifact());
  }

  /** One default more or less concerns all of them. */
  private List<ResourceID> beside(Changed<GpuCheckpointStore> change) {
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
