package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.HungFiles;
import dev.stasis.agent.testing.HungFiles.Call;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The agent has a file open for writing whose server is gone (a hard NFS mount): no process that
 * has the file too can close it.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnclosableFileTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  @SuppressWarnings("NullAway.Init")
  private HungFiles store;

  @SuppressWarnings("NullAway.Init")
  private FileChannel written;

  @BeforeEach
  void start() {
    lab = new EngineLab(1, 96);
    store = HungFiles.at(Call.FLUSH);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(2);
  }

  @AfterEach
  void stop() throws IOException {
    store.close();
    source.close();
    lab.close();
  }

  private void serverIsGone() {
    try {
      written = FileChannel.open(store.file(), StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void serverIsBack() throws IOException {
    assertThat(store.holds()).as("a process waits for the server").isFalse();
    store.respond();
    written.close();
  }

  @Test
  void aWorkloadThatWasFrozenBeforeResumes() throws Exception {
    CheckpointOutcome outcome =
        lab.engine()
            .checkpoint()
            .run(
                Asked.of(lab, source).request(),
                EngineLab.control(),
                (step, done, total) -> {
                  if (step.equals(StopStep.NAME) && done == 0 && total == 0) {
                    serverIsGone();
                  }
                });

    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    serverIsBack();
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  @Test
  void aSuspendedWorkloadIsThawedByAnotherDriverWorker() throws Exception {
    lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
    serverIsGone();
    ProcessId worker = lab.parts().proc().id((int) lab.worker().pid().orElseThrow()).orElseThrow();
    ProcessHandle.of(worker.pid()).orElseThrow().destroyForcibly();
    assertThat(lab.parts().pids().awaitEnd(worker, Duration.ofSeconds(60))).isTrue();

    lab.thaw(source);

    serverIsBack();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
