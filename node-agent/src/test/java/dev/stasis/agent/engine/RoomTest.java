package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One byte less than what the device memory needs is refused, with both numbers. */
class RoomTest {

  private static final long DEVICE = 1000L << 20;
  private static final long USED = 70L << 20;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(longs = {0, DEVICE})
  void aMemoryLimitMayNotBeOneByteShort(long staged) throws IOException {
    // 2 % and 256 MiB above the device memory; a stage in memory is the node's, not the pod's.
    long needed = 1020L * (1 << 20) + (256L << 20);
    assertThat(Room.needed(DEVICE)).isEqualTo(needed);
    plenty();
    assertThat(missing(USED + needed, staged)).isEmpty();
    assertThat(missing(USED + needed - 1, staged))
        .hasValueSatisfying(
            why -> assertThat(why).contains("" + needed).contains("" + (needed - 1)));
  }

  /** Its limit was raised to the byte, and it used a page more before it was frozen. */
  @Test
  void aRaisedLimitLeavesRoomForWhatTheWorkloadUsesUntilItsFreeze() throws IOException {
    plenty();
    long raised = new Room(new ProcFs(folder)).found(container(USED + 1), DEVICE).needed();
    assertThat(missing(raised, 0)).isEmpty();
    assertThat(missing(raised - (19 << 20), 0)).as("3.5 MiB and 16 MiB more").isEmpty();
    assertThat(missing(raised - (20 << 20), 0)).isPresent();
  }

  @Test
  void theNodesMemoryMayNotBeShortEither() throws IOException {
    long needed = Room.needed(DEVICE);
    available(needed);
    assertThat(missing(Long.MAX_VALUE / 4, 0)).isEmpty();
    available(needed - 1024);
    assertThat(missing(Long.MAX_VALUE / 4, 0))
        .hasValueSatisfying(why -> assertThat(why).contains("memory of the node"));
  }

  @Test
  void aStageInMemoryLeavesTheNodeAGibibyte() throws IOException {
    Container container = container(Long.MAX_VALUE / 4);
    Room room = new Room(new ProcFs(folder));
    available(Room.needed(DEVICE) + DEVICE + (1L << 30));
    assertThat(room.missing(container, DEVICE, DEVICE)).isEmpty();
    available(Room.needed(DEVICE) + DEVICE + (1L << 30) - 1024);
    assertThat(room.missing(container, DEVICE, DEVICE))
        .hasValueSatisfying(why -> assertThat(why).contains("memory of the node"));
  }

  @Test
  void memoryReservedForAnotherOperationIsNotAvailable() throws IOException {
    long needed = Room.needed(DEVICE);
    available(needed + (1 << 20));
    Container container = container(Long.MAX_VALUE / 4);
    assertThat(new Room(new ProcFs(folder), any -> 1 << 20).missing(container, DEVICE, 0))
        .isEmpty();
    assertThat(new Room(new ProcFs(folder), any -> 2 << 20).missing(container, DEVICE, 0))
        .hasValueSatisfying(why -> assertThat(why).contains("reserved by other operations"));
  }

  @Test
  void aContainerWithTooLowALimitIsRefusedAndRunsOn() throws Exception {
    try (EngineLab lab = new EngineLab(1, 64);
        GpuContainer source =
            GpuContainer.start(
                ContainerSpec.counter(lab.gpus(), "--mib", "8", "--interval-ms", "100")
                    .withMemoryLimit(200L << 20))) {
      source.awaitSteps(2);
      assertThat(lab.checkpoint(Asked.of(lab, source)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .singleElement()
                      .satisfies(
                          unmet -> {
                            assertThat(unmet.property()).isEqualTo("room for device memory");
                            assertThat(unmet.found()).contains("memory limit of cgroup");
                          }));
      lab.assertNothingLeft();
      source.awaitSteps(2);
      source.verify(8);
    }
  }

  private void plenty() throws IOException {
    available(1L << 50);
  }

  private void available(long bytes) throws IOException {
    Files.writeString(folder.resolve("meminfo"), "MemAvailable: " + bytes / 1024 + " kB\n");
  }

  private Optional<String> missing(long limit, long staged) throws IOException {
    return new Room(new ProcFs(folder)).missing(container(limit), DEVICE, staged);
  }

  private Container container(long limit) throws IOException {
    Path cgroup = Files.createDirectories(folder.resolve("cgroup/ff"));
    Files.writeString(cgroup.resolve("memory.usage_in_bytes"), USED + "\n");
    Files.writeString(cgroup.resolve("memory.limit_in_bytes"), limit + "\n");
    Files.writeString(cgroup.resolve("memory.stat"), "total_inactive_file 0\n");
    ProcessId nobody = new ProcessId(1, 0);
    return new Container(
        "ff",
        nobody,
        nobody,
        List.of(new Cgroup(List.of("memory"), folder.resolve("cgroup"), cgroup)),
        true,
        List.of(),
        Map.of(),
        List.of(),
        Optional.empty(),
        0,
        0);
  }
}
