package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DeviceAccessTest {

  private static final Path DEVICES = Path.of("/sys/fs/cgroup/devices");

  @Test
  void aDeviceThatTheCgroupRefusesIsNotOneThatTheContainerHas() throws Exception {
    assumeTrue(
        Files.isDirectory(DEVICES),
        "skipped: cgroup v2, whose device rules are programs and not files");
    Path cgroup = Files.createDirectory(DEVICES.resolve("stasis-test-" + UUID.randomUUID()));
    try {
      Files.writeString(cgroup.resolve("devices.deny"), "c 1:5 rwm");
      DeviceAccess access = new DeviceAccess(EngineLab.runtime());

      assertThat(access.allows(container(cgroup), Path.of("/dev/null"))).isTrue();
      assertThat(access.allows(container(cgroup), Path.of("/dev/zero"))).isFalse();
    } finally {
      Files.delete(cgroup);
    }
  }

  @Test
  void whereNothingCanBeAskedThatWhichIsInDevCounts() {
    assertThat(
            new DeviceAccess(EngineLab.runtime())
                .allows(container(Path.of("/none/at/all")), Path.of("/dev/zero")))
        .isTrue();
  }

  private static Container container(Path cgroup) {
    ProcessId init = new ProcessId(1, 0);
    return new Container(
        "test",
        init,
        init,
        List.of(new Cgroup(List.of("devices"), DEVICES, cgroup)),
        true,
        List.of(),
        Map.of(),
        List.of(),
        Optional.empty(),
        0,
        0);
  }
}
