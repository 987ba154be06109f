package dev.stasis.agent.daemon.node;

import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.selftest.Trials;
import dev.stasis.agent.engine.ToolVersion;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkJournal;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.node.AgentIdentity;
import dev.stasis.api.v1alpha1.node.SelfTest;
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

/** Everything that keeps the GpuNode of this node, put together. */
public final class NodeReporting implements AutoCloseable {

  /**
   * What it needs to know.
   *
   * @param nodeName the node
   * @param namespace the operator's namespace
   * @param pod the agent's pod, where it is one
   * @param stateDir the node's state folder
   * @param runtime the program stasis-runtime
   * @param criu the criu that works here, or why none does
   * @param heartbeat how often the agent says that it is alive
   * @param transferAddress where other agents reach this one for streams, with the port
   * @param certificate of the agent, in PEM
   */
  public record Settings(
      String nodeName,
      String namespace,
      Optional<String> pod,
      Path stateDir,
      Path runtime,
      WorkingCriu criu,
      Duration heartbeat,
      String transferAddress,
      String certificate) {}

  private static final System.Logger LOG = System.getLogger(NodeReporting.class.getName());

  /** What went wrong may have been put right, or was only bad luck. */
  private static final Duration TRY_AGAIN = Duration.ofMinutes(10);

  private static final Executor THREADS =
      task -> {
        Thread made = new Thread(task, "self-test");
        made.setDaemon(true);
        made.start();
      };

  private final Settings settings;
  private final KubernetesClient client;
  private final SharedIndexInformer<GpuCheckpointStore> stores;
  private final Quarantine quarantine;
  private final NodeReporter reporter;
  private final Trials trials;
  private volatile Optional<SelfTest> selfTest = Optional.empty();

  public NodeReporting(
      Settings settings,
      KubernetesClient client,
      NodeApi node,
      GpuRegister gpus,
      Trials trials,
      Clock clock) {
    this.settings = settings;
    this.trials = trials;
    this.client = client;
    this.quarantine = new Quarantine(this::changed);
    this.stores = client.resources(GpuCheckpointStore.class).runnableInformer(0);
    ProcFs proc = new ProcFs();
    NodeFinder finder =
        new NodeFinder(
            gpus,
            node,
            client,
            proc,
            settings.runtime(),
            settings.criu(),
            new FrozenWorkloads(new WorkJournal(settings.stateDir()), node, this::requester),
            () -> stores.getStore().list(),
            quarantine,
            this::selfTest,
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
            new GpuNodeWriter(client, settings.nodeName()),
            identity,
            settings.heartbeat(),
            clock);
  }

  /** Begins to report, and to follow the stores. */
  public void start() {
    // An API server that is not there yet is asked again until it is.
    stores.exceptionHandler((started, error) -> true);
    stores.addEventHandler(new Nudge());
    // Once the stores are known, and beside everything else: it takes seconds.
    var unused = stores.start().thenRunAsync(this::tryOut, THREADS);
    reporter.start();
  }

  /** Something that stands in the GpuNode may have changed: it is looked at soon. */
  public void changed() {
    reporter.nudge();
  }

  /** GPUs that are fenced off. */
  public Quarantine quarantine() {
    return quarantine;
  }

  /** What the agent found when it tried itself; empty when it has not. */
  public Optional<SelfTest> selfTest() {
    return selfTest;
  }

  private void tryOut() {
    Optional<Path> store =
        stores.getStore().list().stream()
            .map(one -> one.getSpec().getNodeLocal())
            .filter(Objects::nonNull)
            .map(local -> Path.of(local.path()))
            .findFirst();
    try {
      SelfTest found = trials.run(store);
      selfTest = Optional.of(found);
      changed();
      if (Boolean.FALSE.equals(found.getPassed())) {
        LOG.log(Level.WARNING, "self-test: " + found.getMessage());
        CompletableFuture.delayedExecutor(TRY_AGAIN.toMillis(), TimeUnit.MILLISECONDS, THREADS)
            .execute(this::tryOut);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Why the GpuNode does not stand in the cluster as it should; empty when it does. */
  public Optional<String> trouble() {
    return reporter.trouble();
  }

  /** Whether looks at the node still come to an end. */
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
      // Who asked for it is good to know, and not worth going without the rest.
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
      // Its status is written whenever a node's figures change, and says nothing new here.
      if (!Objects.equals(
          before.getMetadata().getGeneration(), now.getMetadata().getGeneration())) {
        changed();
      }
    }

    @Override
    public void onDelete(GpuCheckpointStore store, boolean finalStateUnknown) {
      changed();
    }
  }
}
