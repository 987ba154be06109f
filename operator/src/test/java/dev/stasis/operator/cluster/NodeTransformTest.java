package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A cluster may have many nodes, and most of a node are the names of its images. */
class NodeTransformTest {

  private final NodeTransform kept = new NodeTransform(Set.of("nvidia.com/gpu"));

  @Test
  void aNodeWithGpusKeepsItsImagesAndAllElse() {
    Node node =
        node().editStatus().addToCapacity("nvidia.com/gpu", new Quantity("8")).endStatus().build();

    assertThat(kept.apply(node)).isEqualTo(node);
  }

  @Test
  void aNodeThatItsAgentHasLabelledKeepsItsImages() {
    Node node = node().editMetadata().addToLabels("stasis.dev/topology", "x").endMetadata().build();

    assertThat(kept.apply(node)).isEqualTo(node);
  }

  @Test
  void aNodeWithoutGpusKeepsAllButItsImages() {
    Node node = node().build();

    assertThat(kept.apply(node))
        .isEqualTo(new NodeBuilder(node).editStatus().withImages(List.of()).endStatus().build());
  }

  @Test
  void existingFieldsAreNotChanged() {
    Node node = node().build();
    kept.apply(node);

    assertThat(node).isEqualTo(node().build());
  }

  @Test
  void theSameImageOfManyNodesIsNamedOnce() {
    Node node =
        node().editStatus().addToCapacity("nvidia.com/gpu", new Quantity("8")).endStatus().build();

    assertThat(name(kept.apply(node))).isSameAs(name(kept.apply(copy(node))));
  }

  @Test
  void theSameImageOfManyNodesIsStoredOnce() {
    Node node =
        node().editStatus().addToCapacity("nvidia.com/gpu", new Quantity("8")).endStatus().build();
    Node other = new NodeBuilder(node).editMetadata().withName("node2").endMetadata().build();

    assertThat(image(kept.apply(other))).isSameAs(image(kept.apply(node)));
  }

  /** The informer trims the state before a change as well. */
  @Test
  void aTrimmedNodeIsNotTrimmedAgain() {
    Node node =
        node().editStatus().addToCapacity("nvidia.com/gpu", new Quantity("8")).endStatus().build();
    Node once = kept.apply(node);
    Node without = kept.apply(node().build());

    assertThat(kept.apply(once)).isSameAs(once);
    assertThat(kept.apply(without)).isSameAs(without);
  }

  @Test
  void aNodeThatHasSaidNothingYetIsKept() {
    Node node = new NodeBuilder().withNewMetadata().withName("new").endMetadata().build();

    assertThat(kept.apply(node)).isEqualTo(node);
  }

  private static ContainerImage image(Node node) {
    return node.getStatus().getImages().get(0);
  }

  private static String name(Node node) {
    return image(node).getNames().get(0);
  }

  private static Node copy(Node node) {
    String other = new StringBuilder(name(node)).toString();
    return new NodeBuilder(node)
        .editStatus()
        .withImages(new ContainerImage(List.of(other), 1L))
        .endStatus()
        .build();
  }

  private static NodeBuilder node() {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("node1")
        .addToLabels("zone", "a")
        .addToAnnotations("note", "kept")
        .endMetadata()
        .withNewSpec()
        .addNewTaint("NoSchedule", "gpu", null, "yes")
        .endSpec()
        .withNewStatus()
        .addToAllocatable("memory", new Quantity("2Ti"))
        .withImages(
            new ContainerImage(
                List.of(new StringBuilder("registry.example.com/app:").append(1).toString()), 7L))
        .endStatus();
  }
}
