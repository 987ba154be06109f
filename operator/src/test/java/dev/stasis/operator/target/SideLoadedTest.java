package dev.stasis.operator.target;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SideLoadedTest {

  private static final String ID = "sha256:" + "cd".repeat(32);

  @Test
  void theNameIsThatOfTheContainer() {
    assertThat(new SideLoaded(pod("train:1", Map.of()), "main").name()).contains("train:1");
  }

  @Test
  void aRestoredPodKeepsTheNameThoughItHasOnlyTheId() {
    Pod restored = pod(ID, Map.of("stasis.dev/image", "train:1"));

    assertThat(new SideLoaded(restored, "main").name()).contains("train:1");
  }

  @Test
  void anIdIsNoName() {
    assertThat(new SideLoaded(pod(ID, Map.of()), "main").name()).isEmpty();
  }

  private static Pod pod(String image, Map<String, String> annotations) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("trainer")
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("sidecar")
        .withImage("other:1")
        .endContainer()
        .addNewContainer()
        .withName("main")
        .withImage(image)
        .endContainer()
        .endSpec()
        .build();
  }
}
