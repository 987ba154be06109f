package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodMount;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SubPathsTest {

  private static final Pod POD =
      new PodBuilder()
          .withNewSpec()
          .addNewContainer()
          .withName("other")
          .addNewVolumeMount()
          .withMountPath("/data")
          .withSubPath("other")
          .endVolumeMount()
          .endContainer()
          .addNewContainer()
          .withName("main")
          .addNewVolumeMount()
          .withMountPath("/data/")
          .endVolumeMount()
          .addNewVolumeMount()
          .withMountPath("/logs")
          .withSubPath("of/main")
          .endVolumeMount()
          .addNewVolumeMount()
          .withMountPath("/cache")
          .withSubPathExpr("$$(POD)/$(POD)/$(NONE)")
          .endVolumeMount()
          .endContainer()
          .endSpec()
          .build();

  @Test
  void eachMountOfTheContainerHasTheFolderThatThePodNames() {
    assertThat(new SubPaths(POD, container(), List.of("PODS=no", "POD=a=b")).byMountPoint())
        .isEqualTo(
            Map.of(
                "/data", "",
                "/logs", "of/main",
                "/cache", "$(POD)/a=b/$(NONE)",
                "/etc/hosts", ""));
  }

  private static PodContainer container() {
    return new PodContainer(
        "ml",
        "train",
        "1",
        "main",
        "c",
        new PodContainer.Image("i", "sha256:1", List.of()),
        Stream.of("/data/", "/logs", "/cache", "/etc/hosts")
            .map(path -> new PodMount(Path.of("/host"), path, false, Optional.empty()))
            .toList());
  }
}
