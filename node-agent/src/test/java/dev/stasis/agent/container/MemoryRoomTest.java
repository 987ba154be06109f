package dev.stasis.agent.container;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryRoomTest {

  private static final long MIB = 1024 * 1024;

  @TempDir Path top;

  @Test
  void theTightestCgroupAboveDecidesOnV2() throws IOException {
    Path pod = Files.createDirectory(top.resolve("pod"));
    Path own = Files.createDirectory(pod.resolve("ff"));
    write(own, "memory.current", 100 * MIB + "\n");
    write(own, "memory.max", "max\n");
    write(own, "memory.stat", "inactive_file " + 30 * MIB + "\nfile_dirty " + 10 * MIB + "\n");
    write(pod, "memory.current", 150 * MIB + "\n");
    write(pod, "memory.max", 200 * MIB + "\n");
    write(pod, "memory.stat", "inactive_file " + 20 * MIB + "\nfile_dirty 0\n");

    MemoryRoom room = read(new Cgroup(List.of(), top, own));

    assertThat(room.usage()).isEqualTo(100 * MIB);
    assertThat(room.levels().get(0).reclaimable()).isEqualTo(20 * MIB);
    assertThat(room.tightest().orElseThrow().cgroup()).isEqualTo("/pod");
    assertThat(room.free()).isEqualTo(70 * MIB);
  }

  @Test
  void aV1LimitIsReadAndNoLimitIsNone() throws IOException {
    Path own = Files.createDirectory(top.resolve("ff"));
    write(own, "memory.usage_in_bytes", 40 * MIB + "\n");
    write(own, "memory.limit_in_bytes", 64 * MIB + "\n");
    write(own, "memory.stat", "total_inactive_file 0\n");
    write(top, "memory.usage_in_bytes", 400 * MIB + "\n");
    write(top, "memory.limit_in_bytes", "9223372036854771712\n");

    MemoryRoom room = read(new Cgroup(List.of("memory"), top, own));

    assertThat(room.levels()).hasSize(2);
    assertThat(room.levels().get(1).limit()).isEmpty();
    assertThat(room.free()).isEqualTo(24 * MIB);
  }

  @Test
  void noMoreIsTakenBackThanTheFilesThatNobodyUses() throws IOException {
    Path own = Files.createDirectory(top.resolve("ff"));
    write(own, "memory.stat", "anon 99\ninactive_file " + 30 * MIB + "\n");
    write(own, "memory.reclaim", "");

    new PageCache().drop(container(new Cgroup(List.of(), top, own)));

    assertThat(own.resolve("memory.reclaim")).hasContent(Long.toString(30 * MIB));
  }

  @Test
  void aUsageAboveItsLimitLeavesNothing() {
    MemoryRoom.Level level = new MemoryRoom.Level("/x", 10, java.util.OptionalLong.of(5), 0);

    assertThat(new MemoryRoom(List.of(level), 100).free()).isZero();
    assertThat(new MemoryRoom(List.of(), 100).free()).isEqualTo(100);
  }

  @Test
  void theRoomOfARealContainerIsRead() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data")) {
      MemoryRoom room = new MemoryRoomReader(new ProcFs()).read(running.resolve());

      assertThat(room.usage()).isPositive();
      assertThat(room.free()).isPositive();
    }
  }

  @Test
  void theLimitOfARealProcessIsFoundAndThatOfTheWholeMachineIsNotItsOwn() throws Exception {
    try (TestContainer running = TestContainer.start("workload", 0, "/data")) {
      MemoryRoomReader reader = new MemoryRoomReader(new ProcFs());
      Container container = running.resolve();
      Cgroup memory = MemoryRoomReader.memoryCgroup(container).orElseThrow();
      Files.writeString(
          memory.folder().resolve(memory.isUnified() ? "memory.max" : "memory.limit_in_bytes"),
          Long.toString(64 * MIB));

      assertThat(reader.limit(container.init().pid())).hasValue(64 * MIB);
      assertThat(reader.limit(1)).isEmpty();
    }
  }

  private MemoryRoom read(Cgroup memory) {
    return new MemoryRoomReader(new ProcFs()).read(container(memory));
  }

  private static Container container(Cgroup memory) {
    ProcessId nobody = new ProcessId(1, 0);
    return new Container(
        "ff",
        nobody,
        nobody,
        List.of(memory),
        true,
        List.of(),
        Map.of(),
        List.of(),
        Optional.empty(),
        0,
        0);
  }

  private static void write(Path folder, String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }
}
