package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.remote.RemoteProbes;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.tmpfs.StoreInMemory;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.RemoteUsage;
import dev.stasis.api.v1beta1.node.SelfTest;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Observes the node, each property as often as it may change. */
final class NodeFinder implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(NodeFinder.class.getName());

  /** The API server's version changes only with an upgrade. */
  private static final Duration RARELY = Duration.ofMinutes(10);

  private static final Path CGROUPS = Path.of("/sys/fs/cgroup");

  private final CgroupDrivers drivers = new CgroupDrivers(CGROUPS);
  private final NodeReporting.Settings settings;
  private final GpuRegister gpus;
  private final NodeApi node;
  private final KubernetesClient client;
  private final ProcFs proc;
  private final HostReader host;
  private final FrozenWorkloads frozen;
  private final StoreLooks storeLooks;
  private final Supplier<Collection<GpuCheckpointStore>> stores;
  private final Quarantine quarantine;
  private final Supplier<Optional<SelfTest>> selfTest;
  private final Clock clock;
  private int kubernetes;
  private Instant askedKubernetes = Instant.EPOCH;

  NodeFinder(
      NodeReporting.Settings settings,
      GpuRegister gpus,
      NodeApi node,
      KubernetesClient client,
      ProcFs proc,
      FrozenWorkloads frozen,
      Supplier<Collection<GpuCheckpointStore>> stores,
      Quarantine quarantine,
      Supplier<Optional<SelfTest>> selfTest,
      RemoteProbes probes,
      Clock clock) {
    this.settings = settings;
    this.gpus = gpus;
    this.node = node;
    this.client = client;
    this.proc = proc;
    this.host = new HostReader(proc);
    this.frozen = frozen;
    this.storeLooks =
        new StoreLooks(clock, settings.kubelet(), new Probe(probes), StoreInMemory.ofThisAgent());
    this.stores = stores;
    this.quarantine = quarantine;
    this.selfTest = selfTest;
    this.clock = clock;
  }

  /** Observes all properties. */
  NodeLook look() throws IOException, InterruptedException {
    NodeGpus found = gpus.now();
    NodeLook.RuntimeAnswer containerRuntime = containerRuntime();
    NodeHost facts = host.read(found, settings.criu().version());
    facts.setContainerRuntime(containerRuntime.version().orElse(null));
    return new NodeLook(
        found,
        facts,
        host.isRoot(),
        settings.criu(),
        containerRuntime,
        kubelet(),
        cgroupDrivers(),
        missing("stasis-runtime", settings.runtime()),
        missing("stasis-keeper", settings.keeper()),
        kubernetes(),
        selfTest.get(),
        storeLooks.look(stores.get()),
        frozen(),
        quarantine.fenced());
  }

  private static Optional<String> missing(String name, Path program) {
    return Files.isExecutable(program)
        ? Optional.empty()
        : Optional.of(name + ": expected a program at " + program + ", got none");
  }

  private NodeLook.RuntimeAnswer containerRuntime() {
    try {
      return new NodeLook.RuntimeAnswer(Optional.of(node.containers().version()), "");
    } catch (NodeApiException e) {
      return new NodeLook.RuntimeAnswer(Optional.empty(), String.valueOf(e.getMessage()));
    }
  }

  private Optional<String> kubelet() {
    try {
      node.gpus().require();
      return Optional.empty();
    } catch (NodeApiException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** A service that does not answer is already reported elsewhere. */
  private Optional<String> cgroupDrivers() {
    try {
      return drivers.mismatch(node.containers().cgroupDriver());
    } catch (NodeApiException e) {
      return Optional.empty();
    }
  }

  private List<FrozenWorkload> frozen() {
    try {
      return frozen.list(proc.bootId());
    } catch (NodeApiException e) {
      LOG.log(Level.WARNING, "cannot list frozen workloads: " + e.getMessage());
      return List.of();
    }
  }

  private int kubernetes() {
    Instant now = clock.instant();
    if (askedKubernetes.plus(RARELY).isBefore(now)) {
      kubernetes = askKubernetes();
      askedKubernetes = now;
    }
    return kubernetes;
  }

  private int askKubernetes() {
    try {
      String minor = client.getKubernetesVersion().getMinor();
      return Integer.parseInt(minor.replaceAll("[^0-9].*", ""));
    } catch (KubernetesClientException | NumberFormatException e) {
      LOG.log(Level.WARNING, "version of the API server: " + e.getMessage());
      return 0;
    }
  }

  @Override
  public void close() {
    storeLooks.close();
  }

  private record Probe(RemoteProbes probes) implements StoreLooks.RemoteProbe {
    @Override
    public @Nullable RemoteUsage require(GpuCheckpointStore store) throws IOException {
      return probes.require(store);
    }

    @Override
    public @Nullable String volumeId(GpuCheckpointStore store) throws IOException {
      return probes.volumeId(store);
    }
  }
}
