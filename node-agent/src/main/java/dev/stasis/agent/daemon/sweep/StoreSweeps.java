package dev.stasis.agent.daemon.sweep;

import dev.stasis.agent.daemon.operation.Intervals;
import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DeletionPolicy;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Listable;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Sweeps every store that this node can access, while the API server is available. */
public final class StoreSweeps implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(StoreSweeps.class.getName());

  /** Nothing waits for it: often enough to observe each object well before its deletion. */
  private static final Duration EVERY = Duration.ofMinutes(5);

  /** After a failure: an API server that restarts is back within a minute. */
  private static final Intervals.Backoff AGAIN =
      new Intervals.Backoff(Duration.ofSeconds(15), EVERY);

  /** An agent has more urgent work when it starts. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  /** A few hundred kB of JSON. */
  private static final long AT_ONCE = 100;

  private final KubernetesClient client;
  private final ArtifactSweep sweep;
  private final StagingSweep stagings;
  private final RemoteSweep remote;
  private final LocalCopies copies;
  private final Clock clock;
  private final String nodeName;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("artifact-sweep"));

  /**
   * For one node.
   *
   * @param needed returns whether an operation on this node needs an artifact
   */
  public StoreSweeps(
      KubernetesClient client,
      ArtifactSweep sweep,
      StagingSweep stagings,
      RemoteStores remotes,
      Predicate<Path> needed,
      String nodeName,
      Clock clock) {
    this.client = client;
    this.stagings = stagings;
    this.remote = new RemoteSweep(remotes, clock);
    this.copies = new LocalCopies(needed, clock);
    this.clock = clock;
    this.nodeName = nodeName;
    this.sweep = sweep;
  }

  /** Starts to sweep, soon and then every few minutes; sooner after a sweep that failed. */
  public void start() {
    next(FIRST, AGAIN.first());
  }

  private void next(Duration delay, Duration again) {
    var unused =
        thread.schedule(
            () -> {
              boolean done = false;
              try {
                done = all();
              } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "Sweep failed", e);
              } finally {
                next(done ? EVERY : again, done ? AGAIN.first() : AGAIN.after(again));
              }
            },
            delay.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /**
   * Sweeps once. Without an answer from the API server nothing is removed.
   *
   * @return whether all of it could be swept
   */
  boolean all() {
    List<GpuCheckpointStore> stores;
    try {
      stores = client.resources(GpuCheckpointStore.class).list().getItems();
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "Stores could not be listed for the sweep: {0}", e.getMessage());
      return false;
    }
    boolean done = true;
    for (GpuCheckpointStore store : stores) {
      Path root = Path.of(store.getSpec().folder(store.getMetadata().getName()));
      if (Files.isDirectory(root)) {
        done &= sweep(store, root);
      }
    }
    return done;
  }

  /** What fails in one part of a store delays neither its other parts nor other stores. */
  private boolean sweep(GpuCheckpointStore store, Path root) {
    String name = store.getMetadata().getName();
    boolean shared = store.getSpec().sharesFolder();
    boolean done = tried(name, "staging folders", () -> stagings.sweep(root, shared));
    if (store.getSpec().uploads()) {
      done &=
          tried(
              name,
              "local copies",
              () -> copies.prune(store, root, LocalCopies.Disk.of(root), this::checkpoints));
      done &=
          tried(
              name,
              "remote store",
              () -> {
                remote.sweep(store, root);
                return List.of();
              });
    }
    SweepTurn turn = new SweepTurn(root, EVERY, clock);
    return done
        & tried(
            name,
            "artifacts",
            () ->
                !shared || turn.take()
                    ? sweep.sweep(
                        root,
                        store.getMetadata().getUid(),
                        namespaces -> objects(namespaces, store))
                    : List.of());
  }

  private static boolean tried(String store, String part, Callable<List<Path>> sweep) {
    try {
      var unused = sweep.call();
      return true;
    } catch (IOException | KubernetesClientException e) {
      LOG.log(
          Level.WARNING,
          "Sweep failed and will be repeated: store={0} part={1} error={2}",
          store,
          part,
          e.toString());
    } catch (Exception e) {
      // An exception would end the schedule.
      LOG.log(Level.ERROR, "Sweep failed: store=" + store + " part=" + part, e);
    }
    return false;
  }

  private Map<ArtifactSweep.Owner, Boolean> objects(
      Set<String> namespaces, GpuCheckpointStore store) {
    Map<ArtifactSweep.Owner, Boolean> objects = new HashMap<>();
    for (String namespace : namespaces) {
      all(
          client.resources(GpuCheckpoint.class).inNamespace(namespace),
          checkpoint -> {
            boolean goes = goesWith(checkpoint) || isCopy(checkpoint, store);
            objects.put(
                new ArtifactSweep.Owner(namespace, checkpoint.getMetadata().getUid()), goes);
            imported(checkpoint, store.getMetadata().getName())
                .ifPresent(it -> objects.put(it, goes));
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

  private List<GpuCheckpoint> checkpoints(Set<String> namespaces) {
    List<GpuCheckpoint> found = new ArrayList<>();
    for (String namespace : namespaces) {
      all(client.resources(GpuCheckpoint.class).inNamespace(namespace), found::add);
    }
    return found;
  }

  /** Page by page: all objects at once may exceed this program's memory. */
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

  /** Artifacts imported into that store, as far as this node can access it. */
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

  /**
   * A workload that was evicted, or was not seen to run since its checkpoint, may have no other
   * copy, so its artifact stays, whatever the object specifies.
   */
  private static boolean goesWith(GpuCheckpoint checkpoint) {
    return checkpoint.getSpec().getOptions().getDeletionPolicy() == DeletionPolicy.DELETE
        && checkpoint.getSpec().getAfterCheckpoint() != AfterCheckpoint.EVICT
        && !mayHaveEnded(checkpoint);
  }

  private static boolean mayHaveEnded(GpuCheckpoint checkpoint) {
    List<Condition> conditions =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getConditions();
    return conditions != null
        && conditions.stream()
            .anyMatch(
                condition ->
                    condition.type().equals("SourceRunning")
                        && condition.status() != ConditionValue.TRUE);
  }

  /** The artifact in a remote store, retained or not, needs no copy on this node. */
  private static boolean isCopy(GpuCheckpoint checkpoint, GpuCheckpointStore store) {
    return store.getSpec().uploads()
        && LocalCopies.isStored(checkpoint, store.getMetadata().getName());
  }

  /** A failed migration may have lost its workload: the sent artifact may be the only copy. */
  private static boolean goesWith(GpuMigration migration) {
    return migration.getStatus() == null
        || migration.getStatus().getPhase() != MigrationPhase.FAILED;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  /**
   * Coordinates the sweeps of a store that many nodes share: the time of a file in its root is that
   * of the last sweep. Otherwise every node would read all manifests. Two concurrent sweeps are
   * harmless.
   *
   * @param root the store's root
   * @param every the interval of sweeps
   */
  record SweepTurn(Path root, Duration every, Clock clock) {

    private static final String FILE = ".swept";

    /** Returns whether this node should sweep; other nodes then do not for that interval. */
    boolean take() throws IOException {
      return take(false);
    }

    /** Returns whether the last sweep was before that time. */
    boolean isBefore(Instant time) throws IOException {
      return swept().filter(last -> !last.isBefore(time)).isEmpty();
    }

    /**
     * Returns whether this node should sweep.
     *
     * @param anyway whether the interval does not matter
     */
    boolean take(boolean anyway) throws IOException {
      Path file = root.resolve(FILE);
      Instant now = clock.instant();
      Optional<Instant> last = swept();
      // A future time comes from a node with a wrong clock, and is ignored.
      if (!anyway
          && last.filter(it -> !it.isAfter(now) && it.plus(every).isAfter(now)).isPresent()) {
        return false;
      }
      if (last.isEmpty()) {
        Files.write(file, new byte[0]);
      }
      Files.setLastModifiedTime(file, FileTime.from(now));
      return true;
    }

    /** Makes the next call of {@link #take()} return true: the sweep came to nothing. */
    void giveBack() throws IOException {
      Files.deleteIfExists(root.resolve(FILE));
    }

    private Optional<Instant> swept() throws IOException {
      try {
        return Optional.of(
            Files.getLastModifiedTime(root.resolve(FILE), LinkOption.NOFOLLOW_LINKS).toInstant());
      } catch (NoSuchFileException e) {
        return Optional.empty();
      }
    }
  }
}
