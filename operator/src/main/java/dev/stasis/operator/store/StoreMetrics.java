package dev.stasis.operator.store;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1alpha1.store.NamespaceUsage;
import dev.stasis.operator.cluster.Informers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** What lies in the stores and what still fits, as their statuses say it. */
@Singleton
class StoreMetrics {

  private final Informers informers;
  private final MeterRegistry registry;

  StoreMetrics(Informers informers, MeterRegistry registry) {
    this.informers = informers;
    this.registry = registry;
  }

  void bind(@Observes StartupEvent start) {
    MultiGauge bytes = MultiGauge.builder("stasis_store_bytes").register(registry);
    MultiGauge free = MultiGauge.builder("stasis_store_free_bytes").register(registry);
    informers.listen(
        GpuCheckpointStore.class,
        change -> {
          bytes.register(informers.stores().stream().flatMap(StoreMetrics::used).toList(), true);
          free.register(informers.stores().stream().flatMap(StoreMetrics::free).toList(), true);
        });
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

  private static Stream<MultiGauge.Row<?>> free(GpuCheckpointStore store) {
    GpuCheckpointStoreStatus status = store.getStatus();
    return status == null || status.getFreeBytes() == null
        ? Stream.empty()
        : Stream.of(
            MultiGauge.Row.of(
                Tags.of("store", store.getMetadata().getName()), status.getFreeBytes()));
  }
}
