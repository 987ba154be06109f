package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreStatus;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.node.NodeStores;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** Stores from which another node can restore what one node has written. */
public final class SharedStores {

  private final StoreChoice choice = new StoreChoice();

  /** Returns whether all nodes see the same files in the store, without an upload. */
  public boolean is(GpuCheckpointStore store) {
    return store.getSpec().sharesFolder();
  }

  /** Returns whether an artifact is in reach of other nodes before its workload goes. */
  public boolean isReachedElsewhere(GpuCheckpointStore store) {
    return is(store)
        || (store.getSpec().promises() == StoreDurability.REMOTE && isForAllNodes(store));
  }

  /** A volume that one node at a time mounts goes with that node. */
  private static boolean isForAllNodes(GpuCheckpointStore store) {
    return store.getSpec().getLocation().persistentVolumeClaim() == null
        || Optional.ofNullable(store.getStatus())
            .map(GpuCheckpointStoreStatus::getVolume)
            .filter(VolumeStatus::reachesAllNodes)
            .isPresent();
  }

  /**
   * Returns the first one by name that the namespace may use and the node can write to.
   *
   * @param node the node's report
   */
  public Optional<GpuCheckpointStore> first(
      Collection<GpuCheckpointStore> stores, Namespace namespace, Optional<GpuNode> node) {
    return first(stores.stream().filter(this::is), namespace, node);
  }

  /** The same for stores that other nodes can reach before the workload is removed. */
  public Optional<GpuCheckpointStore> firstReachedElsewhere(
      Collection<GpuCheckpointStore> stores, Namespace namespace, Optional<GpuNode> node) {
    return first(stores.stream().filter(this::isReachedElsewhere), namespace, node);
  }

  private Optional<GpuCheckpointStore> first(
      Stream<GpuCheckpointStore> stores, Namespace namespace, Optional<GpuNode> node) {
    return stores
        .filter(store -> choice.allows(store, namespace))
        .filter(
            store ->
                node.filter(it -> NodeStores.of(it).canWrite(store.getMetadata().getName()))
                    .isPresent())
        .min(Comparator.comparing(store -> store.getMetadata().getName()));
  }
}
