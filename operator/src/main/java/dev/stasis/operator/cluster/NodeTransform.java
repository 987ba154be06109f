package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Trims nodes in the cache. Their images, which are most of a node, are kept for GPU nodes only,
 * and each name is stored once, because nodes of a cluster mostly have the same images. Nodes are
 * only written by patches of labels, so nothing is lost.
 *
 * @param gpuResources resources that count as GPUs
 */
record NodeTransform(Set<String> gpuResources) implements UnaryOperator<Node> {
  NodeTransform {
    gpuResources = Set.copyOf(gpuResources);
  }

  @Override
  public Node apply(Node node) {
    NodeStatus status = node.getStatus();
    if (status == null || status.getImages() == null || status.getImages().isEmpty()) {
      return node;
    }
    List<ContainerImage> images =
        isOfConcern(node, status)
            ? status.getImages().stream().map(NodeTransform::shared).toList()
            : List.of();
    return new NodeBuilder(node).editStatus().withImages(images).endStatus().build();
  }

  /**
   * A node with GPUs, or with labels of its GpuNode if its GPUs are allocated by resource claims.
   */
  private boolean isOfConcern(Node node, NodeStatus status) {
    return Stream.concat(keys(status.getCapacity()), keys(status.getAllocatable()))
            .anyMatch(gpuResources::contains)
        || keys(node.getMetadata().getLabels()).anyMatch(key -> key.startsWith(Api.GROUP + "/"));
  }

  private static ContainerImage shared(ContainerImage image) {
    return new ContainerImage(
        Objects.requireNonNullElse(image.getNames(), List.<String>of()).stream()
            .map(String::intern)
            .toList(),
        image.getSizeBytes());
  }

  private static Stream<String> keys(@Nullable Map<String, ?> map) {
    return map == null ? Stream.empty() : map.keySet().stream();
  }
}
