package dev.stasis.agent.daemon.node;

import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.remote.RemoteProbes;
import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.agent.daemon.selftest.Trials;
import dev.stasis.agent.engine.CopyRates;
import dev.stasis.agent.engine.ToolVersion;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkJournal;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.SelfTest;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Assembles the components that maintain this node's GpuNode. */
public final class NodeReporting implements AutoCloseable {

  /**
   * What it needs to know.
   *
   * @param namespace the operator's namespace
   * @param pod the agent's pod, if it runs in one
   * @param stateDir the node's state folder
   * @param runtime the program stasis-runtime
   * @param keeper the program stasis-keeper
   * @param kubelet the kubelet's folder on this node
   * @param criu the criu in use, or why none works
   * @param transferAddress address and port on which this agent accepts streams
   * @param certificate certificate of the agent, in PEM
   */
  public record Settings(
      String nodeName,
      String namespace,
      Optional<String> pod,
      Path stateDir,
      Path runtime,
      Path keeper,
      Path kubelet,
      WorkingCriu criu,
      Duration heartbeat,
      String transferAddress,
      String certificate) {}

  private static final System.Logger LOG = System.getLogger(NodeReporting.class.getName());

  /** The cause of a failure may have been fixed or temporary. */
  private static final Duration TRY_AGAIN = Duration.ofMinutes(10);

  private static final Executor THREADS =
      task -> new DaemonThreads("self-test").newThread(task).start();

  private final Settings settings;
  private final KubernetesClient client;
  private final SharedIndexInformer<GpuCheckpointStore> stores;
  private final Quarantine quarantine;
  private final NodeReporter reporter;
  private final Trials trials;
  private final CopyRates rates;
  private volatile Optional<SelfTest> selfTest = Optional.empty();

  public NodeReporting(
      Settings settings,
      KubernetesClient client,
      NodeApi node,
      GpuRegister gpus,
      Trials trials,
      CopyRates rates,
      RemoteStores remotes,
      Clock clock) {
    this.settings = settings;
    this.trials = trials;
    this.rates = rates;
    this.client = client;
    this.stores = client.resources(GpuCheckpointStore.class).runnableInformer(0);
    ProcFs proc = new ProcFs();
    this.quarantine =
        new Quarantine(settings.stateDir().resolve("fenced"), proc.bootId(), this::changed);
    NodeFinder finder =
        new NodeFinder(
            settings,
            gpus,
            node,
            client,
            proc,
            new FrozenWorkloads(
                new WorkJournal(settings.stateDir()), node.containers(), this::requester),
            () -> stores.getStore().list(),
            quarantine,
            this::selfTest,
            new RemoteProbes(remotes, clock),
            clock);
    AgentIdentity identity =
        new AgentIdentity(
            ToolVersion.current(),
            settings.pod().orElse(null),
            clock.instant(),
            null,
            settings.transferAddress(),
            settings.certificate());
    this.reporter =
        new NodeReporter(
            finder,
            new NodeReporter.GpuNodeWriter(client, settings.nodeName()),
            identity,
            settings.heartbeat(),
            clock);
  }

  /** Starts to report, and to watch the stores. */
  public void start() {
    // Retries until the API server is available.
    stores.exceptionHandler((started, error) -> true);
    stores.addEventHandler(new Nudge());
    // After the stores are known, and in the background: it takes seconds.
    var unused = stores.start().thenRunAsync(this::tryOut, THREADS);
    reporter.start();
  }

  /** The GpuNode's content may have changed: it is observed again soon. */
  public void changed() {
    reporter.nudge();
  }

  /** The fenced GPUs. */
  public Quarantine quarantine() {
    return quarantine;
  }

  /** The result of the agent's self-test with the rates of operations; empty if there was none. */
  public Optional<SelfTest> selfTest() {
    return selfTest.map(
        test ->
            test.with(
                rate(CopyRates.Copy.GPU_CHECKPOINT),
                rate(CopyRates.Copy.GPU_RESTORE),
                rate(CopyRates.Copy.MOVE_OUT)));
  }

  private @Nullable Long rate(CopyRates.Copy copy) {
    return rates.bytesPerSecond(copy).orElse(null);
  }

  private void tryOut() {
    Optional<Path> store =
        stores.getStore().list().stream()
            .map(one -> one.getSpec().getLocation().nodeLocal())
            .filter(Objects::nonNull)
            .map(local -> Path.of(local.path()))
            .findFirst();
    try {
      SelfTest found = trials.run(store);
      selfTest = Optional.of(found);
      changed();
      if (Boolean.FALSE.equals(found.passed())) {
        LOG.log(Level.WARNING, "self-test: " + found.message());
        CompletableFuture.delayedExecutor(TRY_AGAIN.toMillis(), TimeUnit.MILLISECONDS, THREADS)
            .execute(this::tryOut);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Why the GpuNode could not be written; empty if it was. */
  public Optional<String> trouble() {
    return reporter.trouble();
  }

  /** Returns whether observations of the node still complete. */
  public boolean isAlive() {
    return reporter.isAlive();
  }

  private Optional<ObjectReference> requester(Work work) {
    try {
      return client
          .resources(GpuNodeOperation.class)
          .inNamespace(settings.namespace())
          .withLabel(Api.NODE_LABEL, settings.nodeName())
          .list()
          .getItems()
          .stream()
          .filter(
              operation ->
                  work.id().equals(operation.getMetadata().getName())
                      || work.id().equals(operation.getMetadata().getUid()))
          .map(operation -> operation.getSpec().getRequester())
          .findFirst();
    } catch (KubernetesClientException e) {
      // The requester is useful information, but not required.
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    stores.stop();
    reporter.close();
  }

  private final class Nudge implements ResourceEventHandler<GpuCheckpointStore> {
    @Override
    public void onAdd(GpuCheckpointStore store) {
      changed();
    }

    @Override
    public void onUpdate(GpuCheckpointStore before, GpuCheckpointStore now) {
      // Its status is written whenever a node's figures change. Only its volume is new to the
      // agent.
      if (!Objects.equals(before.getMetadata().getGeneration(), now.getMetadata().getGeneration())
          || !Objects.equals(volume(before), volume(now))) {
        changed();
      }
    }

    private static @Nullable VolumeStatus volume(GpuCheckpointStore store) {
      return store.getStatus() == null ? null : store.getStatus().getVolume();
    }

    @Override
    public void onDelete(GpuCheckpointStore store, boolean finalStateUnknown) {
      changed();
    }
  }
}
