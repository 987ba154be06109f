package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.metric.Leadership;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Agents, frozen workloads and quarantined GPUs of each node, as the GpuNodes report them. Most
 * freezes are shorter than the time between two reports, so operations count as well: an agent that
 * dies before its next report leaves a frozen workload that no GpuNode lists.
 */
@Singleton
class NodeMetrics {

  private static final List<String> STATES = List.of("Frozen", "Suspended", "Unknown");

  private final Informers informers;
  private final Leadership leadership;
  private final AgentLife agents = new AgentLife();
  private final Clock clock;
  private final MultiGauge up;
  private final MultiGauge frozenPods;
  private final MultiGauge oldestFrozen;
  private final MultiGauge quarantined;

  NodeMetrics(Informers informers, Leadership leadership, Clock clock, MeterRegistry registry) {
    this.informers = informers;
    this.leadership = leadership;
    this.clock = clock;
    up = MultiGauge.builder("stasis_agent_up").register(registry);
    frozenPods = MultiGauge.builder("stasis_frozen_pods").register(registry);
    oldestFrozen = MultiGauge.builder("stasis_oldest_frozen_seconds").register(registry);
    quarantined = MultiGauge.builder("stasis_quarantined_gpus").register(registry);
  }

  void bind(@Observes StartupEvent start) {
    leadership.whenLeading(
        () -> {
          informers.listen(
              GpuNode.class,
              change -> {
                if (change.cameOrWent()) {
                  publish();
                }
              });
          publish();
        });
  }

  private void publish() {
    publish(
        informers.gpuNodes().stream().map(node -> node.getMetadata().getName()).toList(),
        // The GpuNode of a node that was removed from the cluster is not an agent that is down.
        name -> informers.gpuNode(name).filter(node -> informers.node(name).isPresent()),
        informers::operationsOf);
  }

  /**
   * Registers the gauges of these nodes.
   *
   * @param nodes read at each scrape: agents write their GpuNodes every minute, and a silent one
   *     changes nothing
   * @param operations those of a node, read at each scrape
   */
  synchronized void publish(
      List<String> names, Nodes nodes, Function<String, List<GpuNodeOperation>> operations) {
    up.register(rows(names, List.of(""), (node, state) -> up(node), nodes), false);
    quarantined.register(
        rows(names, List.of(""), (node, state) -> quarantinedGpus(node), nodes), false);
    frozenPods.register(
        rows(names, STATES, (node, state) -> frozen(node, state, operations).count(), nodes),
        false);
    oldestFrozen.register(
        rows(names, STATES, (node, state) -> oldestSeconds(frozen(node, state, operations)), nodes),
        false);
  }

  interface Nodes {
    Optional<GpuNode> named(String name);
  }

  private static List<MultiGauge.Row<?>> rows(
      List<String> names,
      List<String> states,
      ToDoubleBiFunction<GpuNode, String> value,
      Nodes nodes) {
    return names.stream()
        .<MultiGauge.Row<?>>flatMap(
            name ->
                states.stream()
                    .map(
                        state ->
                            MultiGauge.Row.of(
                                state.isEmpty()
                                    ? Tags.of("node", name)
                                    : Tags.of("node", name, "state", state),
                                name,
                                it ->
                                    nodes
                                        .named(it)
                                        .map(node -> value.applyAsDouble(node, state))
                                        .orElse(Double.NaN))))
        .toList();
  }

  private double up(GpuNode node) {
    return agents.awaySince(node, clock.instant()).isPresent() ? 0 : 1;
  }

  private double oldestSeconds(Stream<FrozenWorkload> frozen) {
    return frozen
        .map(FrozenWorkload::since)
        .filter(Objects::nonNull)
        .min(Comparator.naturalOrder())
        .map(since -> Math.max(0, Duration.between(since, clock.instant()).toSeconds()))
        .orElse(0L);
  }

  private static long quarantinedGpus(GpuNode node) {
    return node.getStatus() == null
        ? 0
        : all(node.getStatus().getGpus())
            .filter(gpu -> Boolean.TRUE.equals(gpu.quarantined()))
            .map(NodeGpu::uuid)
            .distinct()
            .count();
  }

  private static String state(FrozenWorkload workload) {
    return workload.state() != null && STATES.contains(workload.state())
        ? workload.state()
        : "Unknown";
  }

  private static Stream<FrozenWorkload> frozen(
      GpuNode node, String state, Function<String, List<GpuNodeOperation>> operations) {
    List<FrozenWorkload> reported =
        node.getStatus() == null ? List.of() : all(node.getStatus().getFrozen()).toList();
    Set<String> pods =
        reported.stream().map(workload -> workload.pod().uid()).collect(Collectors.toSet());
    return Stream.concat(
            reported.stream(),
            operations.apply(node.getMetadata().getName()).stream()
                .flatMap(operation -> frozenBy(operation).stream())
                .filter(workload -> !pods.contains(workload.pod().uid())))
        .filter(workload -> state(workload).equals(state));
  }

  private static Optional<FrozenWorkload> frozenBy(GpuNodeOperation operation) {
    GpuNodeOperationStatus status = operation.getStatus();
    OperationPod pod = operation.getSpec().getPod();
    return pod == null
            || status == null
            || status.getWorkload() != WorkloadState.FROZEN
            || status.getPhase() == null
            || status.getPhase().isFinal()
        ? Optional.empty()
        : Optional.of(
            new FrozenWorkload(
                new ObjectReference("Pod", pod.namespace(), pod.name(), pod.uid()),
                pod.containerName(),
                status.getFrozenTime(),
                null,
                WorkloadState.FROZEN.value(),
                null,
                null));
  }

  private static <T> Stream<T> all(@Nullable List<T> list) {
    return list == null ? Stream.empty() : list.stream();
  }
}
