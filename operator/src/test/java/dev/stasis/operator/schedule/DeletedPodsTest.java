package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.testing.SetClock;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeletedPodsTest {

  private final SetClock clock = new SetClock();
  private final DeletedPods deleted =
      new DeletedPods(new GpuPods(List.of("nvidia.com/gpu")), clock);

  @Test
  void onlyFailedPodsWithGpusAreRemembered() {
    Pod failed = pod("trainer", "nvidia.com/gpu", "Failed");

    deleted.add(failed);
    deleted.add(pod("web", "cpu", "Failed"));
    deleted.add(pod("done", "nvidia.com/gpu", "Succeeded"));

    assertThat(deleted.in("ml")).containsExactly(failed);
    assertThat(deleted.in("other")).isEmpty();
  }

  @Test
  void aPodIsForgottenEvenIfNoOtherOneIsDeleted() {
    deleted.add(pod("trainer", "nvidia.com/gpu", "Failed"));
    clock.ahead(Duration.ofMinutes(31));

    assertThat(deleted.in("ml")).isEmpty();
  }

  private static Pod pod(String name, String resource, String phase) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("ml")
        .withName(name)
        .withUid(name + "-uid")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToLimits(resource, new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }
}
