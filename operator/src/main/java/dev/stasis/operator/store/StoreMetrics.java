package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.NamespaceUsage;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.node.NodeStores;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Usage of the stores by namespace, and the free space on each node. */
@Singleton
class StoreMetrics {

  private final Informers informers;
  private final Leadership leadership;
  private final MultiGauge used;
  private final MultiGauge free;
  private final MultiGauge capacity;

  StoreMetrics(Informers informers, Leadership leadership, MeterRegistry registry) {
    this.informers = informers;
    this.leadership = leadership;
    used = MultiGauge.builder("stasis_store_bytes").register(registry);
    free = MultiGauge.builder("stasis_store_free_bytes").register(registry);
    capacity = MultiGauge.builder("stasis_store_capacity_bytes").register(registry);
  }

  void bind(@Observes StartupEvent start) {
    leadership.whenLeading(
        () -> {
          informers.listen(GpuCheckpointStore.class, change -> publish());
          informers.listen(
              GpuNode.class,
              change -> {
                // An agent writes its GpuNode every minute, usually with only other numbers.
                if (!names(change.before()).equals(names(change.after()))) {
                  publish();
                }
              });
          publish();
        });
  }

  private static Set<String> names(Optional<GpuNode> node) {
    return node.stream()
        .flatMap(it -> NodeStores.of(it).list().stream())
        .map(NodeStore::name)
        .collect(Collectors.toSet());
  }

  private void publish() {
    publish(
        informers.stores(),
        informers.gpuNodes(),
        (store, node) ->
            informers
                .store(store)
                .flatMap(
                    it ->
                        informers
                            .gpuNode(node)
                            .map(seen -> StoreFacts.of(it, List.of(seen), List.of()))));
  }

  /** A node's view of a store, read at each scrape. */
  interface Views {
    Optional<StoreFacts> of(String store, String node);
  }

  synchronized void publish(List<GpuCheckpointStore> stores, List<GpuNode> nodes, Views views) {
    used.register(stores.stream().flatMap(StoreMetrics::used).toList(), true);
    List<StoreFacts> facts =
        stores.stream().map(store -> StoreFacts.of(store, nodes, List.of())).toList();
    free.register(rows(facts, views, StoreRoom::left), false);
    capacity.register(
        rows(facts, views, (it, view) -> StoreFacts.orZero(view.totalBytes())), false);
  }

  private static List<MultiGauge.Row<?>> rows(
      List<StoreFacts> stores, Views views, ToDoubleBiFunction<StoreFacts, NodeStore> bytes) {
    return stores.stream()
        .flatMap(
            store ->
                store.views().stream()
                    .<MultiGauge.Row<?>>map(
                        view ->
                            row(store.store().getMetadata().getName(), view.node(), views, bytes)))
        .toList();
  }

  private static MultiGauge.Row<?> row(
      String store, String node, Views views, ToDoubleBiFunction<StoreFacts, NodeStore> bytes) {
    return MultiGauge.Row.of(
        Tags.of("store", store, "node", node),
        node,
        it ->
            views
                .of(store, it)
                .flatMap(
                    facts ->
                        facts.views().stream()
                            .findFirst()
                            .map(view -> bytes.applyAsDouble(facts, view.seen())))
                .orElse(Double.NaN));
  }

  private static Stream<MultiGauge.Row<?>> used(GpuCheckpointStore store) {
    GpuCheckpointStoreStatus status = store.getStatus();
    List<NamespaceUsage> all =
        status == null ? List.of() : Objects.requireNonNullElse(status.getNamespaces(), List.of());
    return all.stream()
        .map(
            usage ->
                MultiGauge.Row.of(
                    Tags.of("store", store.getMetadata().getName(), "namespace", usage.namespace()),
                    StoreFacts.orZero(usage.bytes())));
  }
}
