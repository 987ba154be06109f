package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.Api;
import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Trims nodes in the cache. Their images, which are most of a node, are kept for GPU nodes only,
 * and each image is stored once, because nodes of a cluster mostly have the same images. Nodes are
 * only written by patches of labels, so nothing is lost.
 */
final class NodeTransform implements UnaryOperator<Node> {

  /** More images than most clusters have. Any other one is stored with each of its nodes. */
  private static final int REMEMBERED = 4_096;

  private final Set<String> gpuResources;
  private final RecentMap<ContainerImage, ContainerImage> known = new RecentMap<>(REMEMBERED);

  /**
   * @param gpuResources resources that count as GPUs
   */
  NodeTransform(Set<String> gpuResources) {
    this.gpuResources = Set.copyOf(gpuResources);
  }

  @Override
  public Node apply(Node node) {
    NodeStatus status = node.getStatus();
    if (status == null
        || status.getImages() == null
        || status.getImages().isEmpty()
        || status.getImages() instanceof SharedImages) {
      return node;
    }
    List<ContainerImage> images =
        isOfConcern(node, status)
            ? new SharedImages(status.getImages().stream().map(this::shared).toList())
            : List.of();
    Node trimmed = new NodeBuilder(node).editStatus().withImages(List.of()).endStatus().build();
    trimmed.getStatus().setImages(images);
    return trimmed;
  }

  /** The images of a node that is trimmed already: the informer trims each several times. */
  private static final class SharedImages extends AbstractList<ContainerImage> {

    private final List<ContainerImage> images;

    SharedImages(List<ContainerImage> images) {
      this.images = images;
    }

    @Override
    public ContainerImage get(int index) {
      return images.get(index);
    }

    @Override
    public int size() {
      return images.size();
    }
  }

  /**
   * A node with GPUs, or with labels of its GpuNode if its GPUs are allocated by resource claims.
   */
  private boolean isOfConcern(Node node, NodeStatus status) {
    return Stream.of(status.getCapacity(), status.getAllocatable())
            .flatMap(PodTransform::keys)
            .anyMatch(gpuResources::contains)
        || PodTransform.keys(node.getMetadata().getLabels())
            .anyMatch(key -> key.startsWith(Api.GROUP + "/"));
  }

  private ContainerImage shared(ContainerImage image) {
    return known.get(image).orElseGet(() -> named(image));
  }

  /** Another image may have the same name: after its tag has moved, or with another size. */
  private ContainerImage named(ContainerImage image) {
    ContainerImage named =
        new ContainerImage(
            Objects.requireNonNullElse(image.getNames(), List.<String>of()).stream()
                .map(String::intern)
                .toList(),
            image.getSizeBytes());
    known.put(named, named);
    return named;
  }
}
