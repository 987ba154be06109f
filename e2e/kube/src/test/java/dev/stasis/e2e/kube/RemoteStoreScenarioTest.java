package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An artifact that its node uploads, and that another node downloads. */
@ExtendWith(OnACluster.class)
class RemoteStoreScenarioTest {

  @SuppressWarnings("NullAway.Init")
  private Workload workload;

  @SuppressWarnings("NullAway.Init")
  private String other;

  @BeforeEach
  void startWorkloadOnOneOfTwoNodes(Scenario scenario) {
    scenario.needsTwoNodes();
    workload = Workload.start(scenario, "trainer");
    String from = workload.now().getSpec().getNodeName();
    other =
        scenario.installation().nodes().stream()
            .filter(node -> !node.equals(from))
            .findFirst()
            .orElseThrow();
  }

  @Tag("long")
  @Test
  void anEvictedPodIsRestoredOnAnotherNodeFromTheRemoteStore(Scenario scenario) throws Exception {
    try (SharedStore store = SharedStore.ofChunks(scenario);
        KeptLog log = KeptLog.follow(scenario, "trainer")) {
      GpuCheckpointStatus status = evicted(scenario, store.name());
      ArtifactStatus artifact = Present.in("status.artifact", status.getArtifact());
      assertThat(artifact.getNode()).as("the disk that alone has it").isNull();
      assertThat(artifact.getNewBytes()).isPositive().isLessThanOrEqualTo(artifact.getBytes());
      assertThat(CheckpointRequest.condition(status, "StoredLocally").status())
          .isEqualTo(ConditionValue.TRUE);
      // Both nodes are this machine: without its copy the node has only the remote store.
      new Shell().run("rm", "-rf", store.local().resolve(scenario.namespace()).toString());

      AtomicReference<String> downloads = new AtomicReference<>("");
      Workload back = workload.broughtBackAs("trainer", log.lines());
      RestoreRequest request =
          RestoreRequest.apply(scenario, "back", "train-1", "target: {nodeName: " + other + "}");
      scenario.until(
          "a download on the other node",
          () ->
              scenario.operations().stream()
                  .map(operation -> operation.getSpec())
                  .filter(spec -> spec.getType() == OperationType.DOWNLOAD)
                  .map(GpuNodeOperationSpec::getNodeName)
                  .peek(downloads::set)
                  .findFirst()
                  .isPresent());
      request.awaitSucceeded();

      back.verifyGoesOn();
      assertThat(back.now().getSpec().getNodeName()).isEqualTo(other).isEqualTo(downloads.get());
      scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);
      assertThat(manifests(store.folder())).as("manifests in the remote store").isEmpty();
    }
  }

  @Tag("long")
  @Test
  void anEvictedPodIsRestoredOnAnotherNodeFromAnEncryptedBucket(Scenario scenario)
      throws Exception {
    try (EncryptedBucket bucket = EncryptedBucket.make(scenario)) {
      evictAndRestore(scenario, bucket);
    }
  }

  @Test
  void anEvictedPodIsRestoredOnAnotherNodeFromABucketWithKeysOfAKms(Scenario scenario)
      throws Exception {
    try (KmsProcess kms = KmsProcess.start(scenario);
        EncryptedBucket bucket = EncryptedBucket.make(scenario, kms)) {
      kms.stop();
      CheckpointRequest refused =
          CheckpointRequest.apply(
              scenario,
              "without-keys",
              "trainer",
              "afterCheckpoint: Evict",
              "storageRef: {name: " + bucket.name() + "}");
      Condition failed =
          CheckpointRequest.condition(refused.await(CheckpointPhase.FAILED), "Failed");
      // The second if the node has reported that it cannot use the store before it is asked.
      assertThat(failed.reason()).isIn("StoreKmsUnreachable", "StoreNotWritable");
      assertThat(failed.message()).contains("KMS plugin unix://" + kms.socket());
      workload.verifyGoesOn();
      kms.restart();
      new StoreReach(scenario).untilReached(bucket.name());

      evictAndRestore(scenario, bucket);
    }
  }

  private void evictAndRestore(Scenario scenario, EncryptedBucket bucket) throws Exception {
    try (KeptLog log = KeptLog.follow(scenario, "trainer")) {
      evicted(scenario, bucket.name());
      assertThat(inClear(bucket.copies()))
          .as("files on the node with the program's name")
          .isPositive();
      assertThat(bucket.objects()).isNotEmpty();
      assertThat(inClear(bucket.objects())).as("objects with the program's name").isZero();
      // Both nodes are this machine: without its copy the node has only the bucket.
      new Shell().run("rm", "-rf", bucket.local().resolve(scenario.namespace()).toString());

      Workload back = workload.broughtBackAs("trainer", log.lines());
      RestoreRequest.apply(scenario, "back", "train-1", "target: {nodeName: " + other + "}")
          .awaitSucceeded();

      back.verifyGoesOn();
      assertThat(back.now().getSpec().getNodeName()).isEqualTo(other);
      scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);
      assertThat(bucket.objects())
          .as("manifests in the bucket")
          .noneMatch(object -> object.toString().endsWith(".manifest"));
    }
  }

  @Test
  void anEvictedPodIsRestoredOnAnotherNodeFromTheVolumeOfAClaim(Scenario scenario)
      throws Exception {
    try (ClaimedVolume volume = ClaimedVolume.make(scenario);
        KeptLog log = KeptLog.follow(scenario, "trainer")) {
      evicted(scenario, volume.name());
      assertThat(manifests(volume.data())).as("manifests in the volume").hasSize(1);
      // Both nodes are this machine: without its copy the node has only the volume.
      new Shell().run("rm", "-rf", volume.local().resolve(scenario.namespace()).toString());

      Workload back = workload.broughtBackAs("trainer", log.lines());
      volume.unmount();
      RestoreRequest request =
          RestoreRequest.apply(scenario, "back", "train-1", "target: {nodeName: " + other + "}");
      scenario.until(
          "a download that waits for the volume",
          () ->
              scenario.operations().stream()
                  .filter(operation -> operation.getSpec().getType() == OperationType.DOWNLOAD)
                  .anyMatch(
                      operation ->
                          operation.getStatus() != null
                              && "StoreUnreachable".equals(operation.getStatus().getReason())));
      volume.mount();
      request.awaitSucceeded();

      back.verifyGoesOn();
      assertThat(back.now().getSpec().getNodeName()).isEqualTo(other);
      scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);
      assertThat(manifests(volume.data())).as("manifests in the volume").isEmpty();
    }
  }

  /** Checkpoints the pod into that store, and waits until it is stored and the pod is gone. */
  private static GpuCheckpointStatus evicted(Scenario scenario, String store) {
    GpuCheckpointStatus status =
        CheckpointRequest.apply(
                scenario,
                "train-1",
                "trainer",
                "afterCheckpoint: Evict",
                "storageRef: {name: " + store + "}")
            .awaitReady();
    assertThat(CheckpointRequest.condition(status, "Stored").status())
        .isEqualTo(ConditionValue.TRUE);
    scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
    return status;
  }

  /** Files that contain the name of the program: CRIU's images have it, a sealed chunk has not. */
  private static long inClear(List<Path> files) throws Exception {
    long found = 0;
    for (Path file : files) {
      String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
      found += text.contains("gpu-counter") ? 1 : 0;
    }
    return found;
  }

  private static Stream<Path> manifests(Path folder) throws Exception {
    return Files.walk(folder).filter(file -> file.toString().endsWith(".manifest"));
  }
}
