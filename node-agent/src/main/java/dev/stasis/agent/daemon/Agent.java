package dev.stasis.agent.daemon;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.node.GpuRegister;
import dev.stasis.agent.daemon.node.NodeReporting;
import dev.stasis.agent.daemon.operation.AgentParts;
import dev.stasis.agent.daemon.operation.Intervals;
import dev.stasis.agent.daemon.operation.KubernetesApi;
import dev.stasis.agent.daemon.operation.OperationAgent;
import dev.stasis.agent.daemon.operation.OperationMetrics;
import dev.stasis.agent.daemon.operation.OperationTraces;
import dev.stasis.agent.daemon.operation.Transfers;
import dev.stasis.agent.daemon.probes.ProbeAnswers;
import dev.stasis.agent.daemon.remote.KubernetesMountPods;
import dev.stasis.agent.daemon.remote.KubernetesSecrets;
import dev.stasis.agent.daemon.remote.MountPods;
import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.agent.daemon.sweep.ArtifactSweep;
import dev.stasis.agent.daemon.sweep.StagingSweep;
import dev.stasis.agent.daemon.sweep.StoreSweeps;
import dev.stasis.agent.direct.GpuAnchor;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1beta1.node.SelfTest;
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
 * Assembles the agent of one node. Independent of Quarkus, so that it also runs in tests and in the
 * single-machine mode.
 */
public final class Agent implements AutoCloseable {

  /** The current step is finished or undone meanwhile; Quarkus waits a little longer. */
  private static final Duration GRACE = Duration.ofSeconds(90);

  /** The cause of a failed take-over rarely disappears immediately, but workloads wait for it. */
  private static final Intervals.Backoff TAKE_UP =
      new Intervals.Backoff(Duration.ofSeconds(5), Duration.ofMinutes(1));

  private final DriverWorker worker;
  private final GpuAnchor anchor;
  private final NodeApi node;
  private final Transfers transfers;
  private final Spans spans;
  private final NodeReporting reporting;
  private final OperationAgent operations;
  private final StoreSweeps sweeps;
  private final TakeUp takeUp;

  /**
   * Assembles the agent; it does nothing before {@link #start}.
   *
   * @param asked used instead of the sockets of container runtime and kubelet; closed with the
   *     agent
   * @throws IOException if its folders cannot be created
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
    this.anchor = places.anchor();
    GpuRegister gpus = new GpuRegister(worker, clock);
    this.node = asked.orElseGet(() -> places.nodeApi(client, gpus));
    this.transfers = places.transfers(clock);
    RemoteStores remotes =
        new RemoteStores(
            new KubernetesSecrets(client, config.namespace()),
            new MountPods(
                new KubernetesMountPods(client, config.namespace(), config.nodeName()),
                config.namespace(),
                config.nodeName(),
                node.containers(),
                new ProcFs()),
            clock);
    NodeEngine engine = new NodeEngine(places.engine(), worker, clock);
    this.reporting =
        new NodeReporting(
            places.reporting(transfers),
            client,
            node,
            gpus,
            places.trials(worker, clock),
            engine.rates(),
            remotes,
            clock);
    this.spans = places.spans();
    Predicate<Path> needed = folder -> engine.artifactUse().of(folder).isPresent();
    this.sweeps =
        new StoreSweeps(
            client,
            new ArtifactSweep(config.sweepGrace(), needed, clock),
            new StagingSweep(needed, clock),
            remotes,
            needed,
            config.nodeName(),
            clock);
    this.operations =
        new OperationAgent(
            new AgentParts(
                config.nodeName(),
                config.pod().orElse(config.nodeName()),
                engine,
                new KubernetesApi(client, config.namespace(), config.nodeName(), remotes),
                node.containers(),
                node.gpus(),
                node.exec(),
                new ProbeAnswers(config.runtime(), new ProcFs()),
                () -> reporting.selfTest().orElseGet(SelfTest::none),
                reporting.quarantine(),
                reporting::changed,
                new OperationMetrics(metrics),
                new OperationTraces(config.nodeName(), spans),
                transfers,
                config.hugePages(),
                config.verifyMibPerSecond(),
                Intervals.production(),
                clock));
    this.takeUp = new TakeUp(operations::start, TAKE_UP);
  }

  public void start() {
    anchor.start();
    reporting.start();
    sweeps.start();
    takeUp.start();
  }

  /** Returns why the agent is not ready to work; empty if it is. */
  public Optional<String> trouble() {
    return reporting.trouble().or(takeUp::trouble);
  }

  /** Returns whether its loops still make progress. */
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
    anchor.close();
  }
}
