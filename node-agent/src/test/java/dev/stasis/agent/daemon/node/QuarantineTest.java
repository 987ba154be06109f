package dev.stasis.agent.daemon.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A GPU stays fenced off until it is let in again, or the machine has been started again. */
class QuarantineTest {

  private static final String GPU = "GPU-11111111-2222-3333-4444-555555555555";

  @TempDir private Path state;

  private Quarantine agent(String bootId) {
    return new Quarantine(state.resolve("fenced"), bootId, () -> {});
  }

  @Test
  void aSuccessorKeepsTheQuarantineWithItsFirstReason() {
    Quarantine first = agent("boot-1");
    first.fence(GPU, "the driver hangs\nand hangs");
    first.fence(GPU, "another reason");

    assertThat(agent("boot-1").fenced())
        .containsOnlyKeys(GPU)
        .containsValue("the driver hangs\nand hangs");
  }

  @Test
  void aSuccessorDoesNotFenceAReleasedGpu() {
    agent("boot-1").fence(GPU, "the driver hangs");
    agent("boot-1").release(GPU);

    assertThat(agent("boot-1").fenced()).isEmpty();
  }

  @Test
  void aRebootEndsTheQuarantine() {
    agent("boot-1").fence(GPU, "the driver hangs");

    assertThat(agent("boot-2").fenced()).isEmpty();
    assertThat(agent("boot-1").fenced()).isEmpty();
  }

  @Test
  void aGpuWhoseReasonIsLostStaysFenced() throws Exception {
    Path folder = Files.createDirectory(state.resolve("fenced"));
    Files.createFile(folder.resolve(GPU));
    Files.createFile(folder.resolve("GPU-2.new"));

    assertThat(agent("boot-1").fenced()).containsOnlyKeys(GPU);
  }
}
