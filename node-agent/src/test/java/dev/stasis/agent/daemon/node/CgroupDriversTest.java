package dev.stasis.agent.daemon.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupDriversTest {

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by JUnit
  private Path cgroups;

  private Optional<String> with(String runtime) {
    return new CgroupDrivers(cgroups).mismatch(Optional.of(runtime));
  }

  @Test
  void aRuntimeThatDiffersFromTheKubeletIsNamedWithBoth() throws Exception {
    Files.createDirectory(cgroups.resolve("kubepods.slice"));
    assertThat(with("systemd")).isEmpty();
    assertThat(with("cgroupfs"))
        .hasValue(
            "cgroup driver of the container runtime: expected systemd as for the kubelet, got"
                + " cgroupfs");
  }

  @Test
  void theGroupsOfTheFirstVersionLieBelowTheirControllers() throws Exception {
    Files.createDirectories(cgroups.resolve("memory/kubepods"));
    assertThat(with("cgroupfs")).isEmpty();
    assertThat(with("systemd")).isPresent();
  }

  @Test
  void anUnknownCgroupDriverIsNoFault() throws Exception {
    assertThat(with("systemd")).isEmpty();
    Files.createDirectories(cgroups.resolve("kubepods"));
    assertThat(new CgroupDrivers(cgroups).mismatch(Optional.empty())).isEmpty();
    Files.createDirectories(cgroups.resolve("kubepods.slice"));
    assertThat(with("systemd")).isEmpty();
  }
}
