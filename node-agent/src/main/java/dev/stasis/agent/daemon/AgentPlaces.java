package dev.stasis.agent.daemon;

import dev.stasis.agent.criu.CriuLocator;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.kubelet.ResourceSlices;
import dev.stasis.agent.daemon.node.GpuRegister;
import dev.stasis.agent.daemon.node.NodeReporting;
import dev.stasis.agent.daemon.node.WorkingCriu;
import dev.stasis.agent.daemon.operation.Transfers;
import dev.stasis.agent.daemon.selftest.Trials;
import dev.stasis.agent.direct.GpuAnchor;
import dev.stasis.agent.direct.KeeperSettings;
import dev.stasis.agent.engine.EngineSettings;
import dev.stasis.agent.engine.MemoryStage;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.stream.AgentKey;
import dev.stasis.agent.stream.StreamReceiver;
import dev.stasis.agent.tmpfs.StageHugePages;
import dev.stasis.trace.OtlpExporter;
import dev.stasis.trace.Spans;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Determines the settings that the configuration leaves open, on this machine. */
final class AgentPlaces {

  /** The path of criu in the agent's image. */
  private static final Path OWN_CRIU = Path.of("/usr/libexec/stasis/criu");

  /** Represents a missing criu: the engine then only thaws. */
  private static final Path NO_CRIU = Path.of("/nonexistent");

  private static final List<Path> RUNTIMES =
      List.of(Path.of("/run/containerd/containerd.sock"), Path.of("/run/crio/crio.sock"));

  private final AgentConfig config;
  private final FutureTask<WorkingCriu> criu;

  AgentPlaces(AgentConfig config) {
    this.config = config;
    // The check takes a fifth of a second, during which the agent starts other parts.
    this.criu =
        new FutureTask<>(
            () -> WorkingCriu.find(new CriuLocator(config.criu(), OWN_CRIU, System.getenv())));
    new Thread(criu, "criu-check").start();
  }

  private WorkingCriu criu() throws IOException, InterruptedException {
    try {
      return criu.get();
    } catch (ExecutionException e) {
      throw new IOException("criu: cannot be checked: " + e.getCause(), e.getCause());
    }
  }

  WorkerSettings worker() {
    return WorkerSettings.here(config.stateDir()).outlivingTheContainer(config.runtime());
  }

  EngineSettings engine() throws IOException, InterruptedException {
    WorkingCriu found = criu();
    Path stage = memoryStage();
    allowHugePages(stage);
    return new EngineSettings(
        config.stateDir(),
        stage,
        config.criuDir(),
        config.runtime(),
        found.program().orElse(NO_CRIU),
        found.version().orElse("unknown"),
        threads(),
        config.restoreWithoutAppArmor(),
        keeper());
  }

  private KeeperSettings keeper() {
    return new KeeperSettings(config.keeper(), config.anchorGrace(), Map.of());
  }

  GpuAnchor anchor() {
    return new GpuAnchor(keeper(), config.runtime(), config.stateDir());
  }

  Trials trials(DriverWorker worker, Clock clock) throws IOException {
    return new Trials(worker, config.runtime(), memoryStage(), threads(), clock, System::nanoTime);
  }

  private Path memoryStage() throws IOException {
    return new MemoryStage(config.memoryStage(), config.stateDir().resolve("stage")).trusted();
  }

  /** Before anything is staged. A stage without huge pages is slower, and no error. */
  private void allowHugePages(Path stage) {
    if (!config.stageHugePages()) {
      return;
    }
    System.Logger log = System.getLogger(AgentPlaces.class.getName());
    try {
      String option = new StageHugePages(new ProcFs()).allow(stage);
      log.log(System.Logger.Level.INFO, "Memory stage {0}: huge={1}", stage, option);
    } catch (IOException e) {
      log.log(
          System.Logger.Level.WARNING,
          "Memory stage {0} has no huge pages, so that copies into it take longer: {1}",
          stage,
          e.getMessage());
    }
  }

  private int threads() {
    return config.threads().orElse(Math.max(1, Runtime.getRuntime().availableProcessors()));
  }

  NodeApi nodeApi(KubernetesClient client, GpuRegister gpus) {
    Path runtime =
        config
            .criSocket()
            .orElseGet(
                () -> RUNTIMES.stream().filter(Files::exists).findFirst().orElse(RUNTIMES.get(0)));
    Path kubelet =
        config
            .podResourcesSocket()
            .orElse(config.kubeletDir().resolve("pod-resources/kubelet.sock"));
    return NodeApi.at(runtime, kubelet, gpus::gpus, new ResourceSlices(client));
  }

  /** Listens for streams from now on. */
  Transfers transfers(Clock clock) throws IOException {
    AgentKey key = AgentKey.generate(config.nodeName(), clock);
    String address = config.transferAddress().orElseGet(AgentPlaces::ownAddress);
    return new Transfers(key, receiver(key), address);
  }

  /** An agent without its usual port still freezes and restores; its GpuNode has the port. */
  private StreamReceiver receiver(AgentKey key) throws IOException {
    try {
      return new StreamReceiver(key, new InetSocketAddress(config.transferPort()));
    } catch (BindException e) {
      System.getLogger(AgentPlaces.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "Port {0} for streams is in use, using a free one instead",
              String.valueOf(config.transferPort()));
      return new StreamReceiver(key, new InetSocketAddress(0));
    }
  }

  /** Exports traces if a collector is configured. */
  Spans spans() {
    return config
        .tracesEndpoint()
        .<Spans>map(
            endpoint ->
                new OtlpExporter(
                    endpoint,
                    Map.of("service.name", "stasis-agent", "k8s.node.name", config.nodeName())))
        .orElse(Spans.NONE);
  }

  private static String ownAddress() {
    try {
      return InetAddress.getLocalHost().getHostAddress();
    } catch (UnknownHostException e) {
      // A host that does not know its own name has no other agents that would know its address.
      return InetAddress.getLoopbackAddress().getHostAddress();
    }
  }

  NodeReporting.Settings reporting(Transfers transfers) throws IOException, InterruptedException {
    return new NodeReporting.Settings(
        config.nodeName(),
        config.namespace(),
        config.pod(),
        config.stateDir(),
        config.runtime(),
        config.keeper(),
        config.kubeletDir(),
        criu(),
        config.heartbeatEvery(),
        transfers.listening(),
        transfers.key().pem());
  }
}
