package dev.stasis.operator.metric;

import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.node.FrozenWorkload;
import dev.stasis.api.v1alpha1.node.NodeGpu;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.Informers;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What stands still on the nodes, and what is fenced there, as the agents say it. */
@Singleton
class NodeMetrics {

  private final Cluster cluster;
  private final Informers informers;
  private final Clock clock;
  private final MeterRegistry registry;

  NodeMetrics(Informers informers, Clock clock, MeterRegistry registry) {
    this.cluster = informers;
    this.informers = informers;
    this.clock = clock;
    this.registry = registry;
  }

  void bind(@Observes StartupEvent start) {
    MultiGauge frozenPods = MultiGauge.builder("stasis_frozen_pods").register(registry);
    informers.listen(GpuNode.class, change -> frozenPods.register(rows(), true));
    Gauge.builder("stasis_oldest_frozen_seconds", this, NodeMetrics::oldestFrozenSeconds)
        .register(registry);
    Gauge.builder("stasis_gpu_quarantined", this, NodeMetrics::quarantined).register(registry);
  }

  private List<MultiGauge.Row<?>> rows() {
    Map<Tags, Long> counted =
        cluster.gpuNodes().stream()
            .flatMap(node -> frozen(node).map(workload -> tags(node, workload)))
            .collect(Collectors.groupingBy(tags -> tags, Collectors.counting()));
    return counted.entrySet().stream()
        .<MultiGauge.Row<?>>map(row -> MultiGauge.Row.of(row.getKey(), row.getValue()))
        .toList();
  }

  private static Tags tags(GpuNode node, FrozenWorkload workload) {
    return Tags.of(
        "node",
        node.getMetadata().getName(),
        "why",
        Objects.requireNonNullElse(workload.state(), "Unknown"));
  }

  private double oldestFrozenSeconds() {
    Instant now = clock.instant();
    return cluster.gpuNodes().stream()
        .flatMap(NodeMetrics::frozen)
        .map(FrozenWorkload::since)
        .filter(Objects::nonNull)
        .min(Comparator.naturalOrder())
        .map(since -> Math.max(0, Duration.between(since, now).toSeconds()))
        .orElse(0L);
  }

  private double quarantined() {
    return cluster.gpuNodes().stream()
        .filter(node -> node.getStatus() != null)
        .flatMap(node -> all(node.getStatus().getGpus()))
        .filter(gpu -> Boolean.TRUE.equals(gpu.quarantined()))
        .map(NodeGpu::uuid)
        .distinct()
        .count();
  }

  private static Stream<FrozenWorkload> frozen(GpuNode node) {
    return node.getStatus() == null ? Stream.empty() : all(node.getStatus().getFrozen());
  }

  private static <T> Stream<T> all(@Nullable List<T> list) {
    return list == null ? Stream.empty() : list.stream();
  }
}
