package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.HungDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The store stops responding while the copy of a workload that runs again is on the GPU. */
class HungCopyTest {

  /** A machine under load makes progress more often. */
  private static final Duration SILENCE = Duration.ofSeconds(8);

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final EngineLab lab = new EngineLab(1, 256);
  private final DirectLab direct = new DirectLab(lab);

  @SuppressWarnings("NullAway.Init")
  private HungDisk disk;

  @SuppressWarnings("NullAway.Init")
  private Path store;

  @BeforeEach
  void mount() throws IOException {
    Path folder = Files.createDirectory(lab.folder().resolve("disk"));
    disk = HungDisk.mount(lab.state().resolve("image"), folder);
    store = Files.createDirectory(folder.resolve("store"));
  }

  @AfterEach
  void close() {
    disk.close();
    lab.close();
  }

  /** The thaw of another workload may need the memory. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theCopyLeavesTheGpu(boolean duringSave) throws Exception {
    try (GpuContainer container = GpuContainer.start(direct.counter())) {
      container.awaitSteps(3);
      long before = freeBytes();
      AtomicBoolean begun = new AtomicBoolean();
      CheckpointOutcome outcome =
          new Checkpoint(LabParts.silence(lab, SILENCE))
              .run(
                  Asked.of(lab, container).to(store).request(),
                  EngineLab.control(),
                  (name, done, total) -> {
                    if (name.equals("hash") && !begun.getAndSet(true)) {
                      hang(duringSave);
                    }
                  });

      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed ->
                  assertThat(failed.source().kind())
                      .as(failed.message() + failed.source())
                      .isEqualTo(SourceState.Kind.RUNNING));
      assertThat(disk.hangs()).isTrue();
      assertThat(freeBytes()).isGreaterThan(before - (DirectLab.MIB << 20));
      direct.assertUnharmed(container);
      disk.respond();
      await().atMost(LIMIT).untilAsserted(() -> assertThat(store).isEmptyDirectory());
    }
  }

  /** Before the save begins, or when the keeper has its first chunk and has not written it. */
  private void hang(boolean duringSave) {
    if (!duringSave) {
      disk.hang();
      return;
    }
    String copy = "copyDtoH." + direct.keepers("serve").get(0).pid();
    lab.gpus().fault(copy, "hold");
    new Thread(
            () -> {
              await().atMost(LIMIT).until(() -> lab.gpus().isHeld(copy));
              disk.hang();
              lab.gpus().release(copy);
            })
        .start();
  }

  private long freeBytes() {
    if (lab.parts().driver().gpus() instanceof DriverAnswer.Done<NodeGpus> done) {
      return done.value().gpus().get(0).memoryFree();
    }
    throw new IllegalStateException("the simulated driver does not answer");
  }
}
