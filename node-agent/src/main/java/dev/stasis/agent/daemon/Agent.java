package dev.stasis.agent.daemon;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.node.GpuRegister;
import dev.stasis.agent.daemon.node.NodeReporting;
import dev.stasis.agent.daemon.operation.AgentParts;
import dev.stasis.agent.daemon.operation.Backoff;
import dev.stasis.agent.daemon.operation.Intervals;
import dev.stasis.agent.daemon.operation.KubernetesOperations;
import dev.stasis.agent.daemon.operation.KubernetesPods;
import dev.stasis.agent.daemon.operation.KubernetesStores;
import dev.stasis.agent.daemon.operation.OperationAgent;
import dev.stasis.agent.daemon.operation.OperationMetrics;
import dev.stasis.agent.daemon.operation.OperationTraces;
import dev.stasis.agent.daemon.operation.Transfers;
import dev.stasis.agent.daemon.probes.ProbeAnswers;
import dev.stasis.agent.daemon.sweep.ArtifactSweep;
import dev.stasis.agent.daemon.sweep.StagingSweep;
import dev.stasis.agent.daemon.sweep.StoreSweeps;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1alpha1.node.SelfTest;
import dev.stasis.trace.OtlpExporter;
import dev.stasis.trace.Spans;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The agent of one node, put together: knows the node and says so. Needs nothing of Quarkus, so
 * that it runs in tests and on a single machine too.
 */
public final class Agent implements AutoCloseable {

  /** The step in hand is finished or undone meanwhile; Quarkus waits a little longer for us. */
  private static final Duration GRACE = Duration.ofSeconds(90);

  /** What keeps it from being taken up is rarely over at once, and workloads wait for it. */
  private static final Backoff TAKE_UP = new Backoff(Duration.ofSeconds(5), Duration.ofMinutes(1));

  private final DriverWorker worker;
  private final NodeApi node;
  private final Transfers transfers;
  private final Spans spans;
  private final NodeReporting reporting;
  private final OperationAgent operations;
  private final StoreSweeps sweeps;
  private final TakeUp takeUp;

  /**
   * Puts it together; nothing is done before {@link #start}.
   *
   * @throws IOException when its folders cannot be made
   */
  public Agent(AgentConfig config, KubernetesClient client, MeterRegistry metrics, Clock clock)
      throws IOException, InterruptedException {
    this(config, Optional.empty(), client, metrics, clock);
  }

  /**
   * The same.
   *
   * @param asked answers instead of the sockets of container runtime and kubelet; closed with this
   * @throws IOException when its folders cannot be made
   */
  public Agent(
      AgentConfig config,
      Optional<NodeApi> asked,
      KubernetesClient client,
      MeterRegistry metrics,
      Clock clock)
      throws IOException, InterruptedException {
    AgentPlaces places = new AgentPlaces(config);
    this.worker = new DriverWorker(places.worker());
    GpuRegister gpus = new GpuRegister(worker, clock);
    this.node = asked.orElseGet(() -> places.nodeApi(client, gpus));
    this.transfers = places.transfers(clock);
    this.reporting =
        new NodeReporting(
            places.reporting(transfers), client, node, gpus, places.trials(worker, clock), clock);
    this.spans = places.spans();
    NodeEngine engine = new NodeEngine(places.engine(), worker, clock);
    Predicate<Path> needed = folder -> engine.artifactUse().of(folder).isPresent();
    this.sweeps =
        new StoreSweeps(
            client,
            new ArtifactSweep(config.sweepGrace(), needed, clock),
            new StagingSweep(needed, clock),
            config.nodeName(),
            clock);
    this.operations =
        new OperationAgent(
            new AgentParts(
                config.nodeName(),
                config.pod().orElse(config.nodeName()),
                config.stateDir(),
                engine,
                new KubernetesOperations(client, config.namespace(), config.nodeName()),
                new KubernetesPods(client),
                new KubernetesStores(client),
                node.containers(),
                node.gpus(),
                node.exec(),
                new ProbeAnswers(config.runtime(), new ProcFs()),
                () -> reporting.selfTest().orElseGet(SelfTest::new),
                reporting.quarantine(),
                reporting::changed,
                new OperationMetrics(metrics),
                new OperationTraces(config.nodeName(), spans),
                transfers,
                config.hugePages(),
                Intervals.production(),
                clock));
    this.takeUp = new TakeUp(operations::start, TAKE_UP);
  }

  /** Begins to work. */
  public void start() {
    reporting.start();
    sweeps.start();
    takeUp.start();
  }

  /** Why the agent is not ready to work; empty when it is. */
  public Optional<String> trouble() {
    return reporting.trouble().or(takeUp::trouble);
  }

  /** Whether it still moves. */
  public boolean isAlive() {
    return reporting.isAlive();
  }

  @Override
  public void close() {
    takeUp.close();
    try {
      operations.stop(GRACE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sweeps.close();
    transfers.close();
    reporting.close();
    if (spans instanceof OtlpExporter exporter) {
      exporter.close();
    }
    node.close();
    worker.close();
  }
}
