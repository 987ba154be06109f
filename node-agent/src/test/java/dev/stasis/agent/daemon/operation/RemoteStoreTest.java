package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An artifact on its way into a remote store and back. */
class RemoteStoreTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  private final Orders orders = Orders.inRemoteStore();

  @BeforeAll
  static void begin() throws InterruptedException {
    lab = new AgentLab(1, 128);
    lab.start();
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  private static ContainerSpec counter() {
    return ContainerSpec.counter(
        lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1");
  }

  private static AgentLab.Placed running(String name) throws InterruptedException {
    AgentLab.Placed pod = lab.pod(name, counter(), Map.of());
    pod.container().awaitSteps(3);
    return pod;
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private static GpuNodeOperationStatus ended(GpuNodeOperation operation) {
    return lab.cluster().awaitEnd(order(operation));
  }

  private GpuNodeOperationStatus checkpointed(AgentLab.Placed pod) {
    GpuNodeOperationStatus status = ended(orders.checkpoint(pod, how -> {}));
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    return status;
  }

  private static String sha256(GpuNodeOperationStatus status) {
    return Objects.requireNonNull(artifact(status).getSha256());
  }

  private static ArtifactStatus artifact(GpuNodeOperationStatus status) {
    return Objects.requireNonNull(status.getArtifact());
  }

  private Path local() {
    return lab.engine().store().resolve("ml/train-" + orders.requester());
  }

  private static StoredFiles remote() {
    return new StoredFiles(lab.cluster().remote().folder());
  }

  private GpuNodeOperationStatus uploaded(String sha256) {
    GpuNodeOperationStatus status = ended(orders.remote(OperationType.UPLOAD, sha256));
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    return status;
  }

  @Test
  void aWorkloadIsNotFrozenForAStoreThatCannotEncrypt() throws Exception {
    try (AgentLab.Placed pod = running("unencrypted")) {
      lab.cluster().remote().withoutKms(true);
      GpuNodeOperationStatus refused = ended(orders.checkpoint(pod, how -> {}));
      lab.cluster().remote().withoutKms(false);

      assertThat(refused.getOutcome()).isEqualTo(Outcome.REFUSED);
      assertThat(refused.getReason()).isEqualTo("StoreKmsUnreachable");
      assertThat(refused.getWorkload()).isEqualTo(WorkloadState.RUNNING);
      assertThat(local()).doesNotExist();
    }
  }

  @Test
  void anEvictedWorkloadIsRestoredFromTheRemoteStoreAlone() throws Exception {
    AgentLab.Placed victim = running("victim");
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), orders.labels())) {
      String held = order(orders.checkpoint(victim, how -> how.setAfterwards(Afterwards.HOLD)));
      GpuNodeOperationStatus saved = lab.cluster().await(held, OperationPhase.HELD);
      assertThat(artifact(saved).getNode()).isEqualTo(AgentLab.NODE);
      assertThat(artifact(saved).getDurability()).isEqualTo(StoreDurability.REMOTE);
      assertThat(artifact(saved).keepsPromise()).isFalse();

      ArtifactStatus stored = artifact(uploaded(sha256(saved)));
      assertThat(stored.getNode()).isNull();
      assertThat(stored.keepsPromise()).isTrue();
      assertThat(stored.getNewBytes()).isPositive().isLessThanOrEqualTo(stored.getBytes());
      assertThat(stored.getSha256()).isEqualTo(sha256(saved));

      lab.cluster().delete(victim.pod());
      assertThat(ended(orders.of(OperationType.END, victim, held)).getWorkload())
          .isEqualTo(WorkloadState.ENDED);
      new StoredFiles(local()).delete();
      GpuNodeOperationStatus down = ended(orders.remote(OperationType.DOWNLOAD, sha256(saved)));
      assertThat(down.getOutcome()).as(down.getMessage()).isEqualTo(Outcome.DONE);

      String fingerprint =
          Objects.requireNonNull(Objects.requireNonNull(saved.getHardware()).fingerprint());
      GpuNodeOperationStatus restored = ended(orders.restore(target, fingerprint, sha256(saved)));
      assertThat(restored.getOutcome()).as(restored.getMessage()).isEqualTo(Outcome.DONE);
      target.container().awaitSteps(3);
      target.container().verify(MIB, victim.container().lines());
    } finally {
      victim.close();
    }
  }

  @Test
  void anUploadThatIsRepeatedStoresNothingTwice() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      uploaded(sha256);
      long size = remote().bytes();

      uploaded(sha256);

      assertThat(remote().bytes()).isEqualTo(size);
    }
  }

  @Test
  void aDamagedArtifactIsNotUploaded() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      StoredFiles.flip(new StoredFiles(local()).largest());

      GpuNodeOperationStatus status = ended(orders.remote(OperationType.UPLOAD, sha256));

      assertThat(status.getOutcome()).isEqualTo(Outcome.REFUSED);
      assertThat(status.getReason()).isEqualTo("ArtifactRefused");
    }
  }

  /** A pod is removed once its artifact is stored, chunks of earlier artifacts included. */
  @Test
  void anUploadThatMeetsADamagedChunkOfAnEarlierOneStoresItAgain() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      List<Path> before = remote().all();
      uploaded(sha256);
      StoredFiles.flip(remote().largestExcept(before));

      uploaded(sha256);

      new StoredFiles(local()).delete();
      GpuNodeOperationStatus status = ended(orders.remote(OperationType.DOWNLOAD, sha256));
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void aDamagedChunkIsReportedAndLeavesNothingOnTheNode() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      List<Path> before = remote().all();
      uploaded(sha256);
      new StoredFiles(local()).delete();
      Files.delete(mark());
      StoredFiles.flip(remote().largestExcept(before));

      GpuNodeOperationStatus status = ended(orders.remote(OperationType.DOWNLOAD, sha256));

      assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
      assertThat(status.getReason()).as(status.getMessage()).isEqualTo("StoreDamaged");
      assertThat(local()).doesNotExist();
      try (Stream<Path> rest = Files.list(local().getParent())) {
        assertThat(rest.filter(file -> file.toString().contains(orders.requester()))).isEmpty();
      }
    }
  }

  @Test
  void anUnreachableStoreIsRetriedAndReported() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      lab.cluster().remote().away(true);
      String upload = order(orders.remote(OperationType.UPLOAD, sha256));
      GpuNodeOperationStatus waiting =
          lab.cluster().await(upload, status -> "StoreUnreachable".equals(status.getReason()));
      assertThat(waiting.getPhase()).isEqualTo(OperationPhase.RUNNING);
      assertThat(waiting.getMessage()).contains("retried");

      lab.cluster().remote().away(false);

      assertThat(lab.cluster().awaitEnd(upload).getOutcome()).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void anUploadGoesOnAfterTheAgentWasRestarted() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      lab.cluster().remote().away(true);
      String upload = order(orders.remote(OperationType.UPLOAD, sha256));
      lab.cluster().await(upload, status -> "StoreUnreachable".equals(status.getReason()));
      lab.stop();
      assertThat(lab.cluster().status(upload).getPhase()).isEqualTo(OperationPhase.RUNNING);

      lab.cluster().remote().away(false);
      lab.start();

      assertThat(lab.cluster().awaitEnd(upload).getOutcome()).isEqualTo(Outcome.DONE);
    }
  }

  /** A preemption deletes the object soon after the restore, before any sweep sees it. */
  @Test
  void aCopyIsMarkedAtOnceToGoWithItsObject() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      assertThat(mark()).as("of the only copy").doesNotExist();

      uploaded(sha256);
      assertThat(Files.readString(mark()).trim()).isEqualTo(LabRemoteStore.UID);

      new StoredFiles(local()).delete();
      Files.delete(mark());
      GpuNodeOperationStatus down = ended(orders.remote(OperationType.DOWNLOAD, sha256));
      assertThat(down.getOutcome()).as(down.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(Files.readString(mark()).trim()).isEqualTo(LabRemoteStore.UID);
    }
  }

  private Path mark() {
    return local().resolveSibling(".goes-with-its-object-" + local().getFileName());
  }

  @Test
  void aDeletionTakesBothCopies() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      String sha256 = sha256(checkpointed(pod));
      uploaded(sha256);

      GpuNodeOperationStatus deleted = ended(orders.remote(OperationType.DELETE_ARTIFACT, sha256));

      assertThat(deleted.getOutcome()).as(deleted.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(local()).doesNotExist();
      assertThat(ended(orders.remote(OperationType.DOWNLOAD, sha256)).getReason())
          .isEqualTo("StoreNotFound");
    }
  }

  private GpuNodeOperationStatus imported(String podName, String namespaceUid, String sha256) {
    return ended(
        orders.imported(
            "ml/train-" + orders.requester(),
            new ExpectedWorkload(podName, "main", namespaceUid),
            sha256));
  }

  @Test
  void anArtifactThatIsOnlyInTheRemoteStoreIsImported() throws Exception {
    try (AgentLab.Placed pod = running("trainer")) {
      GpuNodeOperationStatus made =
          ended(
              orders.checkpoint(
                  pod,
                  how -> {
                    how.setNamespaceUid("namespace-uid");
                    how.setPodTemplate(
                        Map.of(
                            "metadata",
                            Map.of("name", "trainer", "namespace", "ml"),
                            "spec",
                            Map.of(
                                "containers",
                                List.of(
                                    Map.of(
                                        "name", "main", "image", "a", "command", List.of("x"))))));
                  }));
      String sha256 = sha256(made);
      uploaded(sha256);
      new StoredFiles(local()).delete();

      assertThat(imported("trainer", "another-uid", sha256).getReason()).isEqualTo("StoreNotFound");
      assertThat(imported("other", "namespace-uid", sha256).getOutcome())
          .isEqualTo(Outcome.REFUSED);
      assertThat(local()).as("of a refused import").doesNotExist();

      GpuNodeOperationStatus status = imported("trainer", "namespace-uid", sha256);

      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(artifact(status).getNode()).isNull();
      assertThat(artifact(status).getDurability()).isEqualTo(StoreDurability.REMOTE);
      assertThat(artifact(status).getUid()).isEqualTo(orders.requester());
      assertThat(artifact(status).getNewBytes()).isZero();
      assertThat(local()).exists();
    }
  }
}
