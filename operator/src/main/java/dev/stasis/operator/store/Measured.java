package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.node.RemoteUsage;
import dev.stasis.api.v1beta1.node.StoredNamespace;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.NamespaceUsage;
import dev.stasis.api.v1beta1.store.Quota;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a node measured in a remote store.
 *
 * @param time when; null: nothing was measured yet
 * @param total bytes of everything
 * @param capacity size of its file system; null for a bucket
 * @param namespaces bytes by the name of the namespace
 */
record Measured(
    @Nullable Instant time, long total, @Nullable Long capacity, Map<String, Long> namespaces) {

  static final Measured NOTHING = new Measured(null, 0, null, Map.of());

  Measured {
    namespaces = Map.copyOf(namespaces);
  }

  /** Returns the measurement in the status of a store. */
  static Measured of(GpuCheckpointStore store) {
    GpuCheckpointStoreStatus status = store.getStatus();
    if (!store.getSpec().uploads() || status == null || status.getMeasuredTime() == null) {
      return NOTHING;
    }
    Map<String, Long> namespaces = new HashMap<>();
    for (NamespaceUsage usage :
        Objects.requireNonNullElse(status.getNamespaces(), List.<NamespaceUsage>of())) {
      if (usage.storedBytes() != null) {
        namespaces.put(usage.namespace(), usage.storedBytes());
      }
    }
    Quota quota = store.getSpec().getQuota();
    boolean isQuota = quota != null && quota.totalBytes() != null;
    return new Measured(
        status.getMeasuredTime(),
        StoreFacts.orZero(status.getStoredBytes()),
        isQuota ? null : status.getCapacityBytes(),
        namespaces);
  }

  /**
   * Returns the newest measurement of all nodes, or this one if none is newer.
   *
   * @param names names of namespaces by their UID
   */
  Measured orNewer(List<StoreFacts.View> views, Map<String, String> names) {
    Optional<RemoteUsage> newest =
        views.stream()
            .map(StoreFacts.View::seen)
            .map(NodeStore::remote)
            .filter(Objects::nonNull)
            .max(Comparator.comparing(RemoteUsage::measuredTime))
            .filter(it -> time == null || !it.measuredTime().isBefore(time));
    return newest.map(it -> of(it, names)).orElse(this);
  }

  private static Measured of(RemoteUsage usage, Map<String, String> names) {
    Map<String, Long> namespaces = new HashMap<>();
    for (StoredNamespace stored :
        Objects.requireNonNullElse(usage.namespaces(), List.<StoredNamespace>of())) {
      String name = names.get(stored.uid());
      if (name != null) {
        namespaces.put(name, StoreFacts.orZero(stored.bytes()));
      }
    }
    return new Measured(
        usage.measuredTime(), StoreFacts.orZero(usage.bytes()), usage.capacityBytes(), namespaces);
  }

  /** Returns whether something that is in the store since then is not part of it. */
  boolean isBefore(@Nullable Instant since) {
    return time == null || since == null || since.isAfter(time);
  }
}
