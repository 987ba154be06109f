package dev.stasis.agent.daemon.remote;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Tries out remote stores: wrong settings and credentials are reported before an upload fails. */
public final class RemoteProbes {

  /** Object storage charges each request, and each node sends three for a probe. */
  private static final Duration GOOD_FOR = Duration.ofMinutes(10);

  private final RemoteStores remotes;
  private final Clock clock;
  private final Map<String, Probed> probed = new ConcurrentHashMap<>();

  private record Probed(Object spec, Instant until) {}

  /** Probes by that clock. */
  public RemoteProbes(RemoteStores remotes, Clock clock) {
    this.remotes = remotes;
    this.clock = clock;
  }

  /**
   * Writes, reads and deletes something in the store, unless that was possible a short time ago
   * with the same settings.
   *
   * @throws StoreException why this node cannot use the store
   */
  public void require(GpuCheckpointStore store) throws StoreException {
    String name = store.getMetadata().getName();
    Long generation = store.getMetadata().getGeneration();
    Object settings = store.getMetadata().getUid() + "/" + generation;
    Probed last = probed.get(name);
    if (last != null && last.spec().equals(settings) && clock.instant().isBefore(last.until())) {
      return;
    }
    probed.remove(name);
    try (RemoteArtifacts remote = remotes.open(store)) {
      remote.probe();
    }
    probed.put(name, new Probed(settings, clock.instant().plus(GOOD_FOR)));
  }
}
