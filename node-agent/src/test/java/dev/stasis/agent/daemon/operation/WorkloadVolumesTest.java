package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.agent.layer.TargetVolumes;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WorkloadVolumesTest {
  private static final Path PODS = Path.of("/var/lib/kubelet/pods/u/volumes");

  private final WorkloadVolumes volumes =
      new WorkloadVolumes(
          new PodContainer(
              "team",
              "pod",
              "u",
              "main",
              "f".repeat(64),
              new PodContainer.Image("image", "id", List.of()),
              List.of(
                  mount("/scratch/", false, "scratch"),
                  mount("/dev/shm", false, "memory"),
                  mount("/.stasis", false, "holder"),
                  mount("/shown", true, "shown"),
                  new PodMount(PODS.resolve("claim"), "/data", false, Optional.empty()))));

  @Test
  void onlyWritableEmptyDirsBelongToTheWorkload() {
    assertThat(volumes.all())
        .isEqualTo(
            new TargetVolumes(
                Map.of("/scratch", PODS.resolve("scratch"), "/dev/shm", PODS.resolve("memory")),
                Set.of("/.stasis", "/shown", "/data")));
  }

  @Test
  void theSharedMemoryIsLeftToTheEngine() {
    assertThat(volumes.packed()).containsExactly("/scratch");
  }

  private static PodMount mount(String path, boolean readOnly, String emptyDir) {
    return new PodMount(PODS.resolve(emptyDir), path, readOnly, Optional.of(emptyDir));
  }
}
