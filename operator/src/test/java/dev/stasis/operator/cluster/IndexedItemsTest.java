package dev.stasis.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Lookups in the cache of a watch. */
class IndexedItemsTest {

  private final List<Runnable> readers = new ArrayList<>();
  private final IndexedItems<Pod> items =
      new IndexedItems<>(
          pod -> pod, Map.of("first", this::node, "node", this::node, "last", this::node));

  @Test
  void anObjectIsFoundByItsValues() {
    items.put("a", pod("a", "node-1"));
    items.put("b", pod("b", "node-1"));
    items.put("c", pod("c", "node-2"));

    assertThat(names("node-1")).containsExactlyInAnyOrder("a", "b");
    assertThat(names("node-2")).containsExactly("c");
    assertThat(names("node-3")).isEmpty();
  }

  @Test
  void anObjectIsFoundByItsCurrentValuesOnly() {
    items.put("a", pod("a", "node-1"));
    items.put("b", pod("b", "node-1"));
    items.put("a", pod("a", "node-2"));
    assertThat(names("node-1")).containsExactly("b");
    assertThat(names("node-2")).containsExactly("a");
    assertThat(items.has("node", "node-1")).isTrue();

    items.remove("a");
    items.remove("b");
    assertThat(names("node-1")).isEmpty();
    assertThat(names("node-2")).isEmpty();
    assertThat(items.has("node", "node-1")).isFalse();

    items.put("a", pod("a", "node-1"));
    assertThat(names("node-1")).containsExactly("a");
  }

  @Test
  void anObjectIsFoundAtEveryMomentOfAnUpdate() {
    items.put("a", pod("a", "node-1"));
    List<List<String>> found = new ArrayList<>();
    // Each index asks for the values of the object before, between and after its changes.
    readers.add(() -> found.add(names("node-1")));
    items.put("a", pod("a", "node-1"));

    assertThat(found).hasSizeGreaterThan(3).allMatch(List.of("a")::equals);
  }

  @Test
  void anObjectThatMovesIsFoundInOnePlaceAtEveryMoment() {
    items.put("a", pod("a", "node-1"));
    List<Integer> places = new ArrayList<>();
    readers.add(() -> places.add(names("node-1").size() + names("node-2").size()));
    items.put("a", pod("a", "node-2"));

    assertThat(places).hasSizeGreaterThan(3).allMatch(Integer.valueOf(1)::equals);
  }

  private List<String> names(String node) {
    return items.by("node", node).stream().map(pod -> pod.getMetadata().getName()).toList();
  }

  private List<String> node(Pod pod) {
    List<Runnable> now = List.copyOf(readers);
    readers.clear();
    now.forEach(Runnable::run);
    readers.addAll(now);
    return List.of(pod.getSpec().getNodeName());
  }

  private static Pod pod(String name, String node) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .endSpec()
        .build();
  }
}
