package dev.stasis.agent.daemon.sweep;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.DeletionPolicy;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.store.GpuCheckpointStoreSpec;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Listable;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Sweeps every store that this node reaches, as long as the API server can be asked. */
public final class StoreSweeps implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(StoreSweeps.class.getName());

  /** Nothing waits for it: often enough to see each object well before it goes. */
  private static final Duration EVERY = Duration.ofMinutes(5);

  /** An agent has more urgent things to do when it starts. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  /** Some hundred kB of JSON. */
  private static final long AT_ONCE = 100;

  private final KubernetesClient client;
  private final ArtifactSweep sweep;
  private final StagingSweep stagings;
  private final Clock clock;
  private final String nodeName;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "artifact-sweep");
            made.setDaemon(true);
            return made;
          });

  /**
   * Of one node.
   *
   * @param nodeName the node
   */
  public StoreSweeps(
      KubernetesClient client,
      ArtifactSweep sweep,
      StagingSweep stagings,
      String nodeName,
      Clock clock) {
    this.client = client;
    this.stagings = stagings;
    this.clock = clock;
    this.nodeName = nodeName;
    this.sweep = sweep;
  }

  /** Begins to sweep, soon and then every few minutes. */
  public void start() {
    var unused =
        thread.scheduleWithFixedDelay(
            this::all, FIRST.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Sweeps once. Without an answer of the API server nothing is touched. */
  void all() {
    try {
      for (GpuCheckpointStore store :
          client.resources(GpuCheckpointStore.class).list().getItems()) {
        root(store.getSpec()).filter(Files::isDirectory).ifPresent(root -> sweep(store, root));
      }
    } catch (KubernetesClientException e) {
      LOG.log(Level.WARNING, "artifacts are not swept: " + e.getMessage());
    } catch (RuntimeException e) {
      // A thrown exception would end the schedule.
      LOG.log(Level.ERROR, "artifacts are not swept", e);
    }
  }

  private void sweep(GpuCheckpointStore store, Path root) {
    String name = store.getMetadata().getName();
    try {
      stagings.sweep(root, store.getSpec().getSharedPath() != null);
      if (store.getSpec().getSharedPath() == null || new SweepTurn(root, EVERY, clock).take()) {
        sweep.sweep(root, store.getMetadata().getUid(), namespaces -> objects(namespaces, name));
      }
    } catch (IOException e) {
      LOG.log(Level.WARNING, "store " + name + " is not swept: " + e.getMessage());
    }
  }

  private Map<ArtifactSweep.Owner, Boolean> objects(Set<String> namespaces, String store) {
    Map<ArtifactSweep.Owner, Boolean> objects = new HashMap<>();
    for (String namespace : namespaces) {
      all(
          client.resources(GpuCheckpoint.class).inNamespace(namespace),
          checkpoint -> {
            objects.put(
                new ArtifactSweep.Owner(namespace, checkpoint.getMetadata().getUid()),
                goesWith(checkpoint));
            imported(checkpoint, store).ifPresent(it -> objects.put(it, goesWith(checkpoint)));
          });
      all(
          client.resources(GpuMigration.class).inNamespace(namespace),
          migration ->
              objects.put(
                  new ArtifactSweep.Owner(namespace, migration.getMetadata().getUid()),
                  goesWith(migration)));
    }
    return objects;
  }

  /** Part by part: all at once may be more than this program's memory. */
  private static <T extends HasMetadata> void all(
      Listable<? extends KubernetesResourceList<T>> objects, Consumer<T> each) {
    String next = "";
    do {
      KubernetesResourceList<T> part =
          objects.list(new ListOptionsBuilder().withLimit(AT_ONCE).withContinue(next).build());
      part.getItems().forEach(each);
      next = Objects.requireNonNullElse(part.getMetadata().getContinue(), "");
    } while (!next.isEmpty());
  }

  /** What it has imported into that store, as far as this node reaches it. */
  private Optional<ArtifactSweep.Owner> imported(GpuCheckpoint checkpoint, String store) {
    ArtifactStatus artifact =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getArtifact();
    if (artifact == null
        || artifact.getUid() == null
        || artifact.getLocation() == null
        || !store.equals(artifact.getStore())
        || !(artifact.getNode() == null || artifact.getNode().equals(nodeName))) {
      return Optional.empty();
    }
    String location = artifact.getLocation();
    return Optional.of(
        new ArtifactSweep.Owner(
            checkpoint.getMetadata().getNamespace(),
            artifact.getUid(),
            location.substring(location.indexOf('/') + 1)));
  }

  /** What was evicted may have no other copy: it stays, whatever the object says. */
  private static boolean goesWith(GpuCheckpoint checkpoint) {
    return checkpoint.getSpec().getDeletionPolicy() == DeletionPolicy.DELETE
        && checkpoint.getSpec().getAfterCheckpoint() != AfterCheckpoint.EVICT;
  }

  /** One that failed may have lost its workload: what was sent may be the only copy. */
  private static boolean goesWith(GpuMigration migration) {
    return migration.getStatus() == null
        || migration.getStatus().getPhase() != MigrationPhase.FAILED;
  }

  private static Optional<Path> root(GpuCheckpointStoreSpec spec) {
    if (spec.getNodeLocal() != null) {
      return Optional.of(Path.of(spec.getNodeLocal().path()));
    }
    return Optional.ofNullable(spec.getSharedPath()).map(shared -> Path.of(shared.path()));
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
