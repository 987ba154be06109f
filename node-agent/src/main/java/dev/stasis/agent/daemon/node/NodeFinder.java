package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.remote.RemoteProbes;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.tmpfs.StoreInMemory;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
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
  private final GpuRegister gpus;
  private final NodeApi node;
  private final KubernetesClient client;
  private final ProcFs proc;
  private final HostReader host;
  private final Path runtime;
  private final Path keeper;
  private final FrozenWorkloads frozen;
  private final StoreLooks storeLooks;
  private final Supplier<Collection<GpuCheckpointStore>> stores;
  private final Quarantine quarantine;
  private final Supplier<Optional<SelfTest>> selfTest;
  private final WorkingCriu criu;
  private final Remembered<Integer> kubernetes;

  NodeFinder(
      GpuRegister gpus,
      NodeApi node,
      KubernetesClient client,
      ProcFs proc,
      Path runtime,
      Path keeper,
      Path kubelet,
      WorkingCriu criu,
      FrozenWorkloads frozen,
      Supplier<Collection<GpuCheckpointStore>> stores,
      Quarantine quarantine,
      Supplier<Optional<SelfTest>> selfTest,
      RemoteProbes probes,
      Clock clock) {
    this.gpus = gpus;
    this.node = node;
    this.client = client;
    this.proc = proc;
    this.host = new HostReader(proc);
    this.runtime = runtime;
    this.keeper = keeper;
    this.frozen = frozen;
    this.storeLooks =
        new StoreLooks(clock, kubelet, new Probe(probes), StoreInMemory.ofThisAgent());
    this.stores = stores;
    this.quarantine = quarantine;
    this.selfTest = selfTest;
    this.criu = criu;
    this.kubernetes = new Remembered<>(clock, RARELY, this::askKubernetes);
  }

  /** Observes all properties. */
  NodeLook look() throws IOException, InterruptedException {
    NodeGpus found = gpus.now();
    HostFacts facts = host.read(found, criu.version());
    return new NodeLook(
        found,
        facts,
        criu,
        containerRuntime(),
        kubelet(),
        cgroupDrivers(),
        Files.isExecutable(runtime)
            ? Optional.empty()
            : Optional.of("stasis-runtime: expected a program at " + runtime + ", got none"),
        Files.isExecutable(keeper)
            ? Optional.empty()
            : Optional.of("stasis-keeper: expected a program at " + keeper + ", got none"),
        kubernetes.get(),
        selfTest.get(),
        storeLooks.look(stores.get()),
        frozen(),
        quarantine.fenced());
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

  /** A cached value that is refreshed after some time. */
  private static final class Remembered<T> {
    private final Clock clock;
    private final Duration fresh;
    private final Supplier<T> find;
    private Optional<T> value = Optional.empty();
    private Instant found = Instant.EPOCH;

    Remembered(Clock clock, Duration fresh, Supplier<T> find) {
      this.clock = clock;
      this.fresh = fresh;
      this.find = find;
    }

    synchronized T get() {
      Instant now = clock.instant();
      if (value.isEmpty() || found.plus(fresh).isBefore(now)) {
        value = Optional.of(find.get());
        found = now;
      }
      return value.get();
    }
  }
}
