package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An agent raises the machine's huge pages while the driver copies out, if it is told to. */
class HugePagesTest {

  private static final Path SETTING = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");

  @SuppressWarnings("NullAway.Init")
  private AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private String before;

  @BeforeEach
  void begin() throws IOException {
    Assumptions.assumeTrue(
        Files.isWritable(SETTING), "skipped: this machine lets nobody change " + SETTING);
    before = Files.readString(SETTING);
    lab = new AgentLab(1, 128);
  }

  @AfterEach
  void end() throws InterruptedException {
    if (lab != null) {
      lab.close();
    }
  }

  @Test
  void theyAreRaisedWhileTheDriverCopiesAndNoLonger() throws Exception {
    lab.allowHugePages();
    assertThat(raisedDuringAFreeze()).isTrue();
    assertThat(Files.readString(SETTING)).isEqualTo(before);
    assertThat(note()).doesNotExist();
  }

  @Test
  void anAgentThatWasNotToldLeavesThemAlone() throws Exception {
    assertThat(raisedDuringAFreeze()).isFalse();
  }

  @Test
  void whatAPredecessorLeftIsPutBackAtTheStart() throws Exception {
    Files.createDirectories(lab.engine().state());
    Files.writeString(
        note(),
        "{\"bootId\":\"%s\",\"oldValue\":\"madvise\",\"users\":[]}"
            .formatted(lab.engine().engine().bootId()));

    lab.start();

    assertThat(note()).doesNotExist();
  }

  private boolean raisedDuringAFreeze() throws InterruptedException {
    lab.start();
    try (AgentLab.Placed source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "16", "--interval-ms", "20"),
            Map.of())) {
      source.container().awaitSteps(3);
      lab.engine().gpus().fault("checkpoint", "slow 3000");
      String name =
          lab.cluster()
              .create(Orders.ofSomebody().checkpoint(source, how -> {}))
              .getMetadata()
              .getName();
      Path fault = lab.engine().gpus().folder().resolve("faults/checkpoint");
      Awaitility.await("the driver's copy")
          .atMost(FileCluster.LIMIT)
          .until(() -> Files.notExists(fault));
      boolean raised = Files.exists(note());
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
      assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
      source.container().awaitSteps(2);
      source.container().verify(16);
      return raised;
    }
  }

  private Path note() {
    return lab.engine().state().resolve("thp.json");
  }
}
