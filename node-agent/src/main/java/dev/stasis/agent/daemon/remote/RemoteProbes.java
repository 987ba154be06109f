package dev.stasis.agent.daemon.remote;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.RemoteUsage;
import dev.stasis.api.v1beta1.node.StoredNamespace;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.store.MeasuredUsage;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Tries out remote stores: wrong settings and credentials are reported before an upload fails. */
public final class RemoteProbes {

  /** Object storage charges each request, and each node sends three for a probe. */
  private static final Duration GOOD_FOR = Duration.ofMinutes(10);

  /** Object storage charges for listings; what was uploaded since is known without them. */
  private static final Duration MEASURED_EVERY = Duration.ofHours(1);

  /** A status must stay small, however many namespaces a cluster has. */
  private static final int LISTED = 500;

  private final RemoteStores remotes;
  private final Clock clock;
  private final Map<String, Probed> probed = new ConcurrentHashMap<>();
  private final Map<String, RemoteUsage> measured = new ConcurrentHashMap<>();

  private record Probed(Object spec, Instant until) {}

  public RemoteProbes(RemoteStores remotes, Clock clock) {
    this.remotes = remotes;
    this.clock = clock;
  }

  /**
   * Writes, reads and deletes something in the store, unless that was possible a short time ago
   * with the same settings.
   *
   * @return the content of the store, if this node measured it last; null if another one did
   * @throws StoreException why this node cannot use the store
   */
  public @Nullable RemoteUsage require(GpuCheckpointStore store) throws StoreException {
    String name = store.getMetadata().getName();
    VolumeStatus volume = store.getStatus() == null ? null : store.getStatus().getVolume();
    if (volume != null && volume.message() != null) {
      throw new StoreException.Refused(volume.message(), null);
    }
    Long generation = store.getMetadata().getGeneration();
    Object settings = store.getMetadata().getUid() + "/" + generation;
    Probed last = probed.get(name);
    // A volume costs nothing to open, and can be gone at any time.
    if (store.getSpec().getLocation().persistentVolumeClaim() == null
        && last != null
        && last.spec().equals(settings)
        && clock.instant().isBefore(last.until())) {
      remotes.requireHealthyKms(store);
      return measured.get(name);
    }
    probed.remove(name);
    remotes.requireKeys(store);
    try (RemoteArtifacts remote = remotes.open(store)) {
      remote.probe();
      measure(name, store, remote);
    }
    probed.put(name, new Probed(settings, clock.instant().plus(GOOD_FOR)));
    return measured.get(name);
  }

  /** Returns the identity of the volume of a store's claim on this node; null without a claim. */
  public @Nullable String volumeId(GpuCheckpointStore store) throws StoreException {
    return remotes.volumeId(store);
  }

  private void measure(String name, GpuCheckpointStore store, RemoteArtifacts remote)
      throws StoreException {
    Optional<Instant> last = remote.lastMeasured();
    RemoteUsage own = measured.get(name);
    // A time in the future comes from another clock.
    if (last.isEmpty()
        || Duration.between(last.get(), clock.instant()).abs().compareTo(MEASURED_EVERY) >= 0) {
      measured.put(name, usage(store, remote.measure()));
    } else if (own != null && !own.measuredTime().equals(seconds(last.get()))) {
      measured.remove(name);
    }
  }

  private RemoteUsage usage(GpuCheckpointStore store, MeasuredUsage found) throws StoreException {
    List<StoredNamespace> namespaces =
        found.bytes().entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .limit(LISTED)
            .map(entry -> new StoredNamespace(entry.getKey(), entry.getValue()))
            .toList();
    return new RemoteUsage(seconds(found.time()), capacity(store), found.total(), namespaces);
  }

  private static Instant seconds(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS);
  }

  private @Nullable Long capacity(GpuCheckpointStore store) throws StoreException {
    Path folder = remotes.folder(store);
    // By path: a FileStore is looked up among the agent's own mounts.
    long bytes = folder == null ? 0 : folder.toFile().getTotalSpace();
    return bytes == 0 ? null : bytes;
  }
}
