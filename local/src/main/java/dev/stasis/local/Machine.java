package dev.stasis.local;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.cuda.WorkerSettings;
import dev.stasis.agent.daemon.Agent;
import dev.stasis.agent.daemon.AgentConfig;
import dev.stasis.local.api.LocalApiServer;
import dev.stasis.local.gate.Gate;
import dev.stasis.local.gpu.GpuSupply;
import dev.stasis.local.image.LocalImage.Settings;
import dev.stasis.local.image.LocalImages;
import dev.stasis.local.image.ProgramFiles;
import dev.stasis.local.kubelet.Kubelet;
import dev.stasis.local.kubelet.KubeletSettings;
import dev.stasis.local.kubelet.LocalRuntime;
import dev.stasis.local.scheduler.Scheduler;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All components except the operator, which is a separate program: API server, kubelet, scheduler,
 * agent, gate.
 */
final class Machine implements AutoCloseable {

  static final String NODE = "this-machine";
  static final String HOLDER_IMAGE = "stasis/runtime:local";
  static final String OPERATOR_NAMESPACE = "stasis-system";

  /**
   * The first call starts a JVM and the driver, which may take seconds without persistence mode.
   */
  private static final Duration ASK = Duration.ofSeconds(60);

  /** Any user except root, as in the real image of the holder. */
  private static final String HOLDER_USER = "65532:65532";

  private final MachineSettings settings;
  private final Clock clock;
  private final LocalApiServer api;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  Machine(MachineSettings settings, Clock clock) {
    this.settings = settings;
    this.clock = clock;
    this.api = new LocalApiServer();
    open.push(api);
  }

  /** The operator's connection to the API server. */
  Kubeconfig kubeconfig() {
    return new Kubeconfig(api.url(), "token: " + api.token());
  }

  /** Starts everything, and returns the URL for kubectl. */
  String start() throws IOException, InterruptedException {
    Files.createDirectories(settings.folder);
    LocalImages images = images();
    KubernetesClient client = opened(api.client());
    Kubelet kubelet =
        opened(
            new Kubelet(
                new KubeletSettings(NODE, settings.folder, cgroup(), images, gpus()),
                client,
                clock));
    kubelet.start();
    opened(new Scheduler(client, clock)).start();
    LocalRuntime runtime = kubelet.runtime();
    opened(
            new Agent(
                agentConfig(),
                Optional.of(runtime.connections()),
                client,
                new SimpleMeterRegistry(),
                clock))
        .start();
    return opened(new Gate(api, client, runtime::log, settings.port, clock)).url();
  }

  /** The folder's own name, so that two instances on one machine do not conflict. */
  private String cgroup() {
    return "stasis-local-" + settings.folder.getFileName();
  }

  private LocalImages images() throws IOException {
    LocalImages images = new LocalImages(settings.folder.resolve("images"));
    images.add(
        HOLDER_IMAGE,
        Settings.command(List.of("/stasis-runtime"), List.of(), HOLDER_USER),
        new ProgramFiles(settings.runtime, "stasis-runtime", false));
    for (String program : settings.programs) {
      String[] parts = program.split("=", 2);
      Path file = Path.of(parts[parts.length - 1]);
      String inImage = "bin/" + file.getFileName();
      images.add(
          parts[0],
          Settings.command(
              List.of("/" + inImage),
              List.of("LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu"),
              "1000:1000"),
          new ProgramFiles(file, inImage, true));
    }
    return images;
  }

  private GpuSupply gpus() throws IOException {
    Files.createDirectories(settings.stateDir);
    try (DriverWorker worker = new DriverWorker(WorkerSettings.here(settings.stateDir))) {
      DriverAnswer<NodeGpus> answer = worker.gpus(ASK);
      if (answer instanceof DriverAnswer.Done<NodeGpus> done) {
        Optional<Path> simulated = settings.simulated;
        return simulated.isPresent()
            ? GpuSupply.simulated(done.value(), simulated.get(), settings.libcuda)
            : GpuSupply.real(done.value(), settings.libcuda);
      }
      throw new IOException("GPUs: expected at least one, got: " + answer.describe());
    }
  }

  private AgentConfig agentConfig() {
    Map<String, String> values = new HashMap<>();
    values.put("stasis.agent.node-name", NODE);
    values.put("stasis.agent.namespace", OPERATOR_NAMESPACE);
    values.put("stasis.agent.state-dir", settings.stateDir.toString());
    values.put("stasis.agent.memory-stage", settings.memoryStage.toString());
    // /dev/shm of a developer's machine keeps its mount options.
    values.put("stasis.agent.stage-huge-pages", "false");
    values.put("stasis.agent.criu", settings.criu.toString());
    values.put("stasis.agent.criu-dir", settings.folder.resolve("criu").toString());
    values.put("stasis.agent.runtime", settings.runtime.toString());
    // The direct data path is not part of this mode: without a keeper the driver's path is used.
    values.put("stasis.agent.keeper", settings.folder.resolve("no-keeper").toString());
    // There is no other agent, and two such instances may run at the same time.
    values.put("stasis.agent.transfer-address", "127.0.0.1");
    values.put("stasis.agent.transfer-port", "0");
    return new SmallRyeConfigBuilder()
        .addDiscoveredConverters()
        .withMapping(AgentConfig.class)
        .withSources(new PropertiesConfigSource(values, "single-machine mode", 100))
        .build()
        .getConfigMapping(AgentConfig.class);
  }

  private <T extends AutoCloseable> T opened(T part) {
    open.push(part);
    return part;
  }

  /** Stopped in reverse order: workloads are thawed while their pods still run. */
  @Override
  public void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        System.getLogger(Machine.class.getName())
            .log(System.Logger.Level.WARNING, "while closing", e);
      }
    }
  }
}
