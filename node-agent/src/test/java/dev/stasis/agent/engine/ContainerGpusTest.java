package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which GPUs a container has. */
class ContainerGpusTest {

  private static final int PID = 7;

  private final Gpu first = gpu(0, "GPU-11111111-1111-1111-1111-111111111111");
  private final Gpu second = gpu(1, "GPU-22222222-2222-2222-2222-222222222222");

  @TempDir Path proc;
  private Path dev;

  @BeforeEach
  void process() throws IOException {
    dev = Files.createDirectories(proc.resolve(PID + "/root/dev"));
    Files.writeString(proc.resolve(PID + "/mountinfo"), "");
  }

  @Test
  void aGpuThatIsAFileIsTheOneOfItsName() throws IOException {
    Files.writeString(dev.resolve("nvidia1"), "memory");
    mounted("/gpus/nvidia1", "/dev/nvidia1");

    assertThat(seen()).containsExactly(second);
  }

  /** A workload keeps the names of the node where it began. */
  @Test
  void afterAMoveAGpuIsTheOneThatIsMountedWhateverItsName() throws IOException {
    Files.writeString(dev.resolve("nvidia1"), "memory");
    mounted("/gpus/nvidia0", "/dev/nvidia1");

    assertThat(seen()).containsExactly(first);
  }

  @Test
  void anEmptyFileIsNoGpu() throws IOException {
    Files.createFile(dev.resolve("nvidia0"));
    Files.writeString(dev.resolve("nvidia1"), "memory");

    assertThat(seen()).containsExactly(second);
  }

  private List<Gpu> seen() {
    return new ContainerGpus(proc).of(PID, List.of(first, second), node -> true);
  }

  @Test
  void aLinkIsNoGpuWhereverItLeads() throws IOException {
    Path elsewhere = Files.writeString(proc.resolve("memory"), "memory");
    Files.createSymbolicLink(dev.resolve("nvidia1"), elsewhere);

    assertThat(seen()).isEmpty();
  }

  /** Each answer of the device cgroup takes a helper process. */
  @Test
  void aGpuIsTriedOnceHoweverManyNodesItHas() {
    for (int i = 0; i < 40; i++) {
      new Sh().must("mknod", dev.resolve("nvidia" + i).toString(), "c", "195", "" + i % 2);
    }
    List<Path> tried = new ArrayList<>();

    List<Gpu> seen =
        new ContainerGpus(proc)
            .of(
                PID,
                List.of(first, second),
                node -> {
                  tried.add(node);
                  return false;
                });

    assertThat(seen).isEmpty();
    assertThat(tried).hasSize(2);
  }

  private void mounted(String file, String at) throws IOException {
    Files.writeString(
        proc.resolve(PID + "/mountinfo"),
        "60 50 0:23 %s %s rw,nosuid - tmpfs tmpfs rw\n".formatted(file, at));
  }

  private static Gpu gpu(int index, String uuid) {
    return new Gpu(
        index,
        GpuUuid.parse(uuid),
        "NVIDIA H200",
        1L << 30,
        0,
        "00000000:%d0:00.0".formatted(index + 1),
        "9.0",
        false,
        true);
  }
}
