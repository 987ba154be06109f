package dev.stasis.agent.daemon.sweep;

import dev.stasis.agent.daemon.remote.RemoteStores;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.store.CollectReport;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Frees what no artifact of a remote store needs any more, and rewraps the store's data keys after
 * a rotation. Each node that has used the store does it once a day. A node that has not used it
 * does so if no other node has: all of those that had may be gone. Several at once do no harm.
 */
final class RemoteSweep {

  private static final System.Logger LOG = System.getLogger(RemoteSweep.class.getName());

  /** What is unused is kept for a day anyway. */
  private static final Duration EVERY = Duration.ofDays(1);

  /**
   * When a node that has not used the store takes over. Less than a day: the only node of a cluster
   * would otherwise find that its own sweep, which ended after its last turn, is not a day old.
   */
  private static final Duration OVERDUE = Duration.ofHours(12);

  private final RemoteStores remotes;
  private final Clock clock;

  RemoteSweep(RemoteStores remotes, Clock clock) {
    this.remotes = remotes;
    this.clock = clock;
  }

  /**
   * Sweeps if it is time to. A namespace that cannot be swept delays no other one.
   *
   * @param local the folder of the store on this node
   */
  void sweep(GpuCheckpointStore store, Path local) throws IOException {
    StoreSweeps.SweepTurn turn = new StoreSweeps.SweepTurn(local, EVERY, clock);
    Instant wanted = store.getSpec().getOptions().getCollectAfter();
    boolean asked = wanted != null && !wanted.isAfter(clock.instant()) && turn.isBefore(wanted);
    if (!turn.take(asked)) {
      return;
    }
    List<StoreException> failures = new ArrayList<>();
    boolean collects = false;
    try (RemoteArtifacts remote = remotes.open(store)) {
      Instant now = clock.instant();
      Instant since = asked && wanted != null ? wanted : now.minus(OVERDUE);
      if (ArtifactSweep.folders(local).isEmpty() && wasSwept(remote, since, now)) {
        return;
      }
      List<String> namespaceUids = remote.namespaces();
      boolean rewrapped = true;
      for (String namespaceUid : namespaceUids) {
        rewrapped &= rewrap(store, remote, namespaceUid);
      }
      for (String namespaceUid : namespaceUids) {
        collect(store, remote, namespaceUid).ifPresent(failures::add);
        collects = true;
      }
      if (rewrapped && failures.isEmpty()) {
        // Otherwise another node tries: each has a KMS plugin of its own.
        remote.recordSweep();
      }
      if (asked) {
        remote.forgetMeasurement();
      }
    } catch (IOException | RuntimeException e) {
      if (!collects) {
        turn.giveBack();
      }
      throw e;
    }
    // Once it collects, the turn stays taken: a sweep every few minutes would read the indexes of
    // all
    // packs again.
    if (!failures.isEmpty()) {
      throw failures.get(0);
    }
  }

  /** Returns whether any node has swept since then. A time far ahead comes from another clock. */
  private static boolean wasSwept(RemoteArtifacts remote, Instant since, Instant now)
      throws StoreException {
    return remote
        .lastSwept()
        .filter(last -> last.isAfter(since) && last.isBefore(now.plus(OVERDUE)))
        .isPresent();
  }

  /**
   * Rewraps the data keys of a namespace after a rotation. A key that cannot be rewrapped is still
   * wrapped by the older one.
   *
   * @return whether the current key wraps all of them
   * @throws StoreException if nothing can be done in the other namespaces either
   */
  private static boolean rewrap(
      GpuCheckpointStore store, RemoteArtifacts remote, String namespaceUid) throws StoreException {
    String name = store.getMetadata().getName();
    try {
      if (remote.rewrap(namespaceUid)) {
        LOG.log(Level.INFO, "Data keys rewrapped: store={0} namespaceUid={1}", name, namespaceUid);
      }
      return true;
    } catch (StoreException.Unreachable | StoreException.KmsUnreachable e) {
      throw e;
    } catch (StoreException e) {
      LOG.log(
          Level.WARNING,
          "Data keys not rewrapped: store={0} namespaceUid={1} reason={2} message={3}",
          name,
          namespaceUid,
          e.reason(),
          e.getMessage());
      return false;
    }
  }

  /**
   * Frees what nothing in a namespace needs.
   *
   * @return why it cannot be freed; empty if it was
   * @throws IOException if the other namespaces would fail in the same way, after as long a wait
   */
  private static Optional<StoreException> collect(
      GpuCheckpointStore store, RemoteArtifacts remote, String namespaceUid) throws IOException {
    String name = store.getMetadata().getName();
    try {
      CollectReport report = remote.collect(namespaceUid);
      LOG.log(
          report.problems().isEmpty() ? Level.INFO : Level.WARNING,
          "Remote store swept: store={0} {1}",
          name,
          report);
      return Optional.empty();
    } catch (StoreException e) {
      if (e.isTransient()) {
        throw e;
      }
      LOG.log(
          Level.WARNING,
          "Namespace not swept: store={0} namespaceUid={1} reason={2} message={3}",
          name,
          namespaceUid,
          e.reason(),
          e.getMessage());
      return Optional.of(e);
    }
  }
}
