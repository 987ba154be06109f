package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An agent raises the machine's huge pages while the driver copies out, if it is told to. */
@Tag("alone")
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
    choose("madvise");
  }

  @AfterEach
  void end() throws IOException, InterruptedException {
    if (lab != null) {
      lab.close();
      choose(chosen(before));
    }
  }

  /** The value in brackets is the one that holds. */
  private static String chosen(String shown) {
    return shown.replaceAll("(?s).*\\[(.*)].*", "$1");
  }

  private static void choose(String value) throws IOException {
    Files.writeString(SETTING, value);
  }

  private static String setting() throws IOException {
    return chosen(Files.readString(SETTING));
  }

  @Test
  void hugePagesAreRaisedOnlyWhileTheDriverCopies() throws Exception {
    lab.allowHugePages();
    assertThat(settingDuringAFreeze()).isEqualTo("always");
    assertThat(setting()).isEqualTo("madvise");
    assertThat(note()).doesNotExist();
  }

  @Test
  void anAgentWithoutTheSettingDoesNotRaiseHugePages() throws Exception {
    assertThat(settingDuringAFreeze()).isEqualTo("madvise");
  }

  @Test
  void aSettingLeftByAPredecessorIsRestoredAtTheStart() throws Exception {
    Files.createDirectories(lab.engine().state());
    Files.writeString(
        note(),
        "{\"bootId\":\"%s\",\"oldValue\":\"madvise\",\"users\":[]}"
            .formatted(lab.engine().engine().bootId()));

    choose("always");

    lab.start();

    assertThat(note()).doesNotExist();
    assertThat(setting()).isEqualTo("madvise");
  }

  private String settingDuringAFreeze() throws IOException, InterruptedException {
    lab.start();
    try (AgentLab.Placed source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "16", "--interval-ms", "100"),
            Map.of())) {
      source.container().awaitSteps(3);
      lab.engine().gpus().fault("checkpoint", "hold");
      String name =
          lab.cluster()
              .create(Orders.ofSomebody().checkpoint(source, how -> {}))
              .getMetadata()
              .getName();
      lab.awaitHeld("checkpoint");
      String during = setting();
      lab.engine().gpus().release("checkpoint");
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
      assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
      source.container().awaitSteps(2);
      source.container().verify(16);
      return during;
    }
  }

  private Path note() {
    return lab.engine().state().resolve("thp.json");
  }
}
