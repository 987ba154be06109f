package dev.stasis.operator.store;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.node.NodeStore;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Stores that are no disk of one node: what lies there can be restored on another one. */
public final class SharedStores {

  private final StoreChoice choice = new StoreChoice();

  /** Whether it is one. */
  public boolean is(GpuCheckpointStore store) {
    return store.getSpec().getNodeLocal() == null;
  }

  /**
   * The first by name that the namespace may use and the node can write to.
   *
   * @param stores all that there are
   * @param node as its agent sees it
   */
  public Optional<GpuCheckpointStore> first(
      Collection<GpuCheckpointStore> stores, Namespace namespace, Optional<GpuNode> node) {
    return stores.stream()
        .filter(this::is)
        .filter(store -> choice.allows(store, namespace))
        .filter(store -> node.filter(it -> reaches(it, store)).isPresent())
        .min(Comparator.comparing(store -> store.getMetadata().getName()));
  }

  private static boolean reaches(GpuNode node, GpuCheckpointStore store) {
    return Optional.ofNullable(node.getStatus()).stream()
        .flatMap(
            status -> Objects.requireNonNullElse(status.getStores(), List.<NodeStore>of()).stream())
        .anyMatch(
            seen ->
                seen.name().equals(store.getMetadata().getName())
                    && Boolean.TRUE.equals(seen.writable()));
  }
}
