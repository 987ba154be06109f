package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** An artifact that the node of the target downloads before it is restored there. */
@SuppressWarnings("NullAway") // what is not there fails the test
class DownloadApiServerTest extends OnApiServer {

  private void uploaded() {
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    checkpoint.getStatus().getArtifact().setDurability(StoreDurability.REMOTE);
    checkpoint.getStatus().getArtifact().setStoredBytes(1L << 29);
    checkpoint(checkpoint);
  }

  private List<OperationType> ordered() {
    return operations().stream().map(operation -> operation.getSpec().getType()).toList();
  }

  /** Ends a download that way, and a restore with its proof. */
  private static Consumer<GpuNodeOperationStatus> downloads(
      Consumer<GpuNodeOperationStatus> download) {
    return status -> {
      if ("download".equals(status.getStep())) {
        download.accept(status);
      } else {
        Examples.proven(status);
      }
    };
  }

  private static void downloaded(GpuNodeOperationStatus status) {
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
    status.setReason("Downloaded");
  }

  private static void damaged(GpuNodeOperationStatus status) {
    status.setPhase(OperationPhase.FAILED);
    status.setOutcome(Outcome.UNDONE);
    status.setReason("StoreDamaged");
    status.setFaults(
        List.of(
            new Fault(
                "StoreDamaged",
                null,
                null,
                null,
                "download",
                null,
                "store bucket: chunk 3 of pages-1.img: expected the bytes that were written")));
  }

  @Test
  void aRestoreBeginsOnceItsNodeHasTheArtifact() {
    uploaded();
    restore(spec -> {});

    await().atMost(LONG).until(() -> ordered().equals(List.of(OperationType.DOWNLOAD)));
    GpuNodeOperation download = operations().get(0);
    assertThat(download.getSpec().getNodeName()).isEqualTo(first);
    assertThat(download.getSpec().getArtifact().namespaceUid())
        .isEqualTo(client.namespaces().withName(namespace).get().getMetadata().getUid());
    GpuRestore waiting =
        until(it -> String.valueOf(it.getStatus().getMessage()).contains("downloads the artifact"));
    assertThat(phase(waiting)).isEqualTo(RestorePhase.STARTING);
    assertThat(ordered()).containsExactly(OperationType.DOWNLOAD);

    agent.ends(first, downloads(DownloadApiServerTest::downloaded));

    until(it -> phase(it) == RestorePhase.SUCCEEDED);
    await().atMost(LONG).until(() -> operations().isEmpty());
  }

  @Test
  void anArtifactThatIsDamagedInTheStoreFailsTheRestoreByName() {
    uploaded();
    agent.ends(first, downloads(DownloadApiServerTest::damaged));
    restore(spec -> {});

    GpuRestore failed = until(it -> phase(it) == RestorePhase.FAILED);

    assertThat(condition(failed, "Failed").message()).contains("chunk 3 of pages-1.img");
    assertThat(targets()).isEmpty();
    await().atMost(LONG).until(() -> operations().isEmpty());
  }

  @Test
  void aCancelEndsTheDownload() {
    uploaded();
    restore(spec -> {});
    await().atMost(LONG).until(() -> ordered().equals(List.of(OperationType.DOWNLOAD)));

    cancel();

    until(it -> phase(it) == RestorePhase.CANCELLED);
    await().atMost(LONG).until(() -> operations().isEmpty());
    assertThat(targets()).isEmpty();
  }
}
