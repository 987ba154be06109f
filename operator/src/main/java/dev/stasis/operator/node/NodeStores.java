package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.node.NodeStore;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The stores as the agent of a node reports them.
 *
 * @param list empty before its first report
 */
public record NodeStores(List<NodeStore> list) {

  public NodeStores {
    list = List.copyOf(list);
  }

  public static NodeStores of(GpuNode node) {
    return new NodeStores(
        Optional.ofNullable(node.getStatus()).map(it -> it.getStores()).orElse(List.of()));
  }

  public boolean canWrite(@Nullable String store) {
    return list.stream()
        .anyMatch(it -> it.name().equals(store) && Boolean.TRUE.equals(it.writable()));
  }
}
