package dev.stasis.agent.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuntimeMountsTest {

  /** What the kubelet asked for. The service account's path in the container has a link. */
  private static final List<String> OF_THE_POD =
      List.of(
          "/data",
          "/usr",
          "/opt/torch",
          "/usr/local/nvidia",
          "/etc/hosts",
          "/dev/termination-log",
          "/var/run/secrets/kubernetes.io/serviceaccount");

  @Test
  void everyMountOfARealGpuPodIsExplained(@TempDir Path proc) throws Exception {
    Path process = Files.createDirectories(proc.resolve("1"));
    Files.copy(
        Path.of("src/test/resources/samples/cdi-pod.mountinfo"), process.resolve("mountinfo"));

    assertThat(RuntimeMounts.of(new ProcFs(proc).mounts(1), OF_THE_POD).paths()).isEmpty();
    assertThat(RuntimeMounts.of(new ProcFs(proc).mounts(1), List.of("/data")).paths())
        .contains("/opt/torch", "/usr");
  }

  @Test
  void mountsThatEveryContainerOfTheImageHasAreNotTheRuntimesOwn() {
    List<Mount> mounts =
        List.of(
            mount("/somewhere", "/etc/resolv.conf"),
            mount("/somewhere", "/data/of/the/host"),
            mount("/io.containerd/containers/" + "a".repeat(64) + "/volumes/b", "/var/db"),
            mount("/", "/made/inside"),
            mount("/somewhere", "/run/secrets"));

    assertThat(RuntimeMounts.of(mounts, OF_THE_POD).paths()).containsExactly("/run/secrets");
  }

  private static Mount mount(String root, String at) {
    return new Mount(1, 1, 8, 1, root, at, List.of("rw"), List.of(), "ext4", "/dev/sda", List.of());
  }
}
