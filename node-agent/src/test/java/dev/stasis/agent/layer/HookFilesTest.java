package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HookFilesTest {
  private static final HookFiles GPU_POD =
      new HookFiles(
          MountTargets.of(
              List.of(
                  "/",
                  "/etc/hosts",
                  "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04",
                  "/usr/lib/x86_64-linux-gnu/libnvidia-allocator.so.580.159.04",
                  "/run/nvidia-ctk-hook/b42c6603-c6c3-4e98-b37d-7ecfeb3eca28")));
  private static final HookFiles PLAIN_POD =
      new HookFiles(MountTargets.of(List.of("/", "/etc/hosts", "/opt/libfoo.so.1")));

  @ParameterizedTest
  @CsvSource({
    "etc/hosts,,",
    "run/nvidia-ctk-hook,,",
    "run/nvidia-ctk-hook/b42c6603-c6c3-4e98-b37d-7ecfeb3eca28,,",
    "run/nvidia-ctk-hook/another-name,,",
    "var/run/nvidia-ctk-hook/x/nvct-params,,",
    "etc/ld.so.cache,,",
    "etc/ld.so.conf.d/00-nvcr-1234567.conf,,",
    "etc/ld.so.conf.d/nvcr-1234567.conf,,",
    "etc/nvidia,,",
    "etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf,,",
    "etc/vulkan/icd.d,,",
    "usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04,,",
    "usr/lib/x86_64-linux-gnu/libcuda.so,libcuda.so.1,",
    "usr/lib/x86_64-linux-gnu/libcuda.so.1,libcuda.so.580.159.04,",
    "usr/lib/x86_64-linux-gnu/libcuda.so.1,/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04,",
    "usr/lib/x86_64-linux-gnu/gbm/nvidia-drm_gbm.so,../libnvidia-allocator.so.1,",
  })
  void filesOfTheRuntimeAndItsHooksAreNotPacked(String path, @Nullable String link) {
    assertThat(GPU_POD.foreign(path, link)).as(path).isPresent();
  }

  @ParameterizedTest
  @CsvSource({
    "etc/passwd,,",
    "etc/ld.so.conf,,",
    "etc/ld.so.conf.d/program.conf,,",
    "etc/hosts.bak,,",
    "etc/nvidia2/x,,",
    "run,,",
    "run/program.pid,,",
    "home/run/nvidia-ctk-hook/x,,",
    "app/link_remap.3,,",
    "usr/lib/x86_64-linux-gnu/libfoo.so,libfoo.so.1,",
    "usr/lib/x86_64-linux-gnu/libcuda.so.bak,,",
    "opt/libcuda.so,libcuda.so.1,",
    "opt/link,../../../../etc/passwd,",
    "opt/link,/,",
  })
  void filesOfTheProgramArePacked(String path, @Nullable String link) {
    assertThat(GPU_POD.foreign(path, link)).as(path).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "etc/ld.so.cache,,",
    "etc/nvidia/mine,,",
    "opt/libfoo.so,libfoo.so.1,",
  })
  void withoutTheToolkitItsPathsAreThePrograms(String path, @Nullable String link) {
    assertThat(PLAIN_POD.foreign(path, link)).as(path).isEmpty();
    assertThat(PLAIN_POD.foreign("etc/hosts", null)).isPresent();
  }

  @Test
  void everyMountPointOfARealGpuPodIsToldApart() throws IOException {
    List<String> points = new ArrayList<>();
    for (String line :
        Files.readAllLines(Path.of("src/test/resources/samples/cdi-pod.mountinfo"))) {
      points.add(line.split(" ")[4]);
    }
    HookFiles hooks = new HookFiles(MountTargets.of(points));

    assertThat(points).hasSizeGreaterThan(60);
    for (String point : points) {
      if (point.length() > 1) {
        assertThat(hooks.foreign(point.substring(1), null)).as(point).isPresent();
      }
    }
    assertThat(hooks.foreign("etc/ld.so.cache", null))
        .isEqualTo(Optional.of("written by the container toolkit"));
    assertThat(hooks.foreign("usr/local/nvidia/lib64/libcuda.so", "libcuda.so.1")).isPresent();
  }
}
