package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.Sh;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An agent is killed during a download, and its successor executes the operation again. */
class InterruptedDownloadTest {

  private static final int MIB = 16;

  private final AgentLab lab = new AgentLab(1, 128);
  private final Orders orders = Orders.inRemoteStore();

  @AfterEach
  void close() throws InterruptedException {
    lab.close();
  }

  private GpuNodeOperationStatus done(GpuNodeOperation operation) {
    GpuNodeOperationStatus status =
        lab.cluster().awaitEnd(lab.cluster().create(operation).getMetadata().getName());
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    return status;
  }

  @Test
  void aDownloadHasTheRoomThatItsInterruptedPredecessorTook() throws Exception {
    Path folder = lab.engine().store().resolve("ml");
    Path artifact = folder.resolve("train-" + orders.requester());
    lab.start();
    String sha256;
    try (AgentLab.Placed pod =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100"),
            Map.of())) {
      pod.container().awaitSteps(3);
      GpuNodeOperationStatus saved = done(orders.checkpoint(pod, how -> {}));
      sha256 = Objects.requireNonNull(Objects.requireNonNull(saved.getArtifact()).getSha256());
    }
    done(orders.remote(OperationType.UPLOAD, sha256));
    long bytes = new StoredFiles(artifact).bytes();
    new StoredFiles(artifact).delete();
    new Sh().must("mount", "-t", "tmpfs", "-o", "size=" + 2 * bytes, "tmpfs", folder.toString());
    try {
      Path leftover = leftover(folder, artifact, bytes * 3 / 2);

      done(orders.remote(OperationType.DOWNLOAD, sha256));

      assertThat(artifact).isDirectory();
      assertThat(leftover).doesNotExist();
    } finally {
      lab.stop();
      new Sh().must("umount", folder.toString());
    }
  }

  /** What an agent has staged that no longer exists. */
  private static Path leftover(Path folder, Path artifact, long bytes) throws Exception {
    ArtifactStage stage =
        new ArtifactStore(folder, Clock.systemUTC()).stage(artifact.getFileName().toString());
    try (RandomAccessFile file = new RandomAccessFile(stage.regionData(1).toFile(), "rw")) {
      byte[] block = new byte[1 << 16];
      for (long at = 0; at < bytes; at += block.length) {
        file.write(block);
      }
    }
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
    Files.writeString(
        stage.folder().resolveSibling(stage.folder().getFileName() + ".owner"),
        "an-agent %s 1 1\n".formatted(boot));
    return stage.folder();
  }
}
