package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damage of an artifact is found before the artifact is needed. */
class VerifyJobTest {

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed pod;

  @BeforeAll
  static void begin() throws InterruptedException {
    lab = new AgentLab(1, 128);
    lab.start();
    pod =
        lab.pod(
            "trainer",
            ContainerSpec.counter(
                lab.engine().gpus(), "--mib", "16", "--interval-ms", "100", "--fork", "1"),
            Map.of());
    pod.container().awaitSteps(3);
  }

  @AfterAll
  static void end() throws InterruptedException {
    pod.close();
    lab.close();
  }

  /** A whole copy of a chunk that another test left behind would make up for a damaged one. */
  @BeforeEach
  void emptyTheRemoteStore() throws IOException {
    for (Path file : new StoredFiles(lab.cluster().remote().folder()).all()) {
      Files.delete(file);
    }
  }

  private static GpuNodeOperationStatus ended(GpuNodeOperation operation) {
    return lab.cluster().awaitEnd(lab.cluster().create(operation).getMetadata().getName());
  }

  /** Returns the digest of a new artifact. */
  private static String saved(Orders orders) {
    GpuNodeOperationStatus status = ended(orders.checkpoint(pod, how -> {}));
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    return Objects.requireNonNull(Objects.requireNonNull(status.getArtifact()).getSha256());
  }

  private static GpuNodeOperationStatus verified(Orders orders, String sha256) {
    return ended(orders.remote(OperationType.VERIFY, sha256));
  }

  private static Path local(Orders orders) {
    return lab.engine().store().resolve("ml/train-" + orders.requester());
  }

  private static void assertDamaged(GpuNodeOperationStatus status, String what) {
    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getReason()).isEqualTo("ArtifactDamaged");
    assertThat(status.getMessage()).contains(what);
  }

  /** What is in the other files of a folder is read by the same code. */
  @Test
  void oneFlippedBitInAFileOfEachFolderIsFound() throws IOException {
    oneFlippedBitIsFound(false);
  }

  @Tag("long")
  @Test
  void oneFlippedBitInAnyFileIsFound() throws IOException {
    oneFlippedBitIsFound(true);
  }

  private static void oneFlippedBitIsFound(boolean inEachFile) throws IOException {
    Orders orders = Orders.ofSomebody();
    String sha256 = saved(orders);
    assertThat(verified(orders, sha256).getReason()).isEqualTo("ArtifactVerified");

    Set<Path> folders = new HashSet<>();
    for (Path file : new StoredFiles(local(orders)).all()) {
      boolean first = folders.add(Objects.requireNonNull(file.getParent()));
      if (Files.size(file) > 0 && (first || inEachFile)) {
        StoredFiles.flip(file);
        assertDamaged(verified(orders, sha256), "expected");
        StoredFiles.flip(file);
      }
    }
    assertThat(verified(orders, sha256).getReason()).isEqualTo("ArtifactVerified");
  }

  @Test
  void anArtifactThatIsGoneIsDamagedAndAnUnmountedStoreIsNot() throws IOException {
    Orders orders = Orders.ofSomebody();
    String sha256 = saved(orders);
    Path folder = local(orders);
    Path namespace = Objects.requireNonNull(folder.getParent());
    Path aside = namespace.resolveSibling("aside");
    Files.move(namespace, aside);
    assertThat(verified(orders, sha256).getReason()).isEqualTo("StoreFailed");
    Files.move(aside, namespace);

    new StoredFiles(folder).delete();
    assertDamaged(verified(orders, sha256), "expected a folder, got none");
  }

  @Test
  void oneFlippedBitInARemoteStoreIsFound() throws IOException {
    Orders orders = Orders.inRemoteStore();
    String sha256 = saved(orders);
    StoredFiles remote = new StoredFiles(lab.cluster().remote().folder());
    List<Path> before = remote.all();
    assertThat(ended(orders.remote(OperationType.UPLOAD, sha256)).getOutcome())
        .isEqualTo(Outcome.DONE);
    new StoredFiles(local(orders)).delete();
    assertThat(verified(orders, sha256).getReason()).isEqualTo("ArtifactVerified");

    StoredFiles.flip(remote.largestExcept(before));

    assertDamaged(verified(orders, sha256), "expected");
  }

  @Test
  void damageInARemoteStoreIsRepairedFromTheCopyOfTheNode() throws IOException {
    Orders orders = Orders.inRemoteStore();
    String sha256 = saved(orders);
    damagedPack(orders, sha256);

    assertThat(verified(orders, sha256).getReason()).isEqualTo("Repaired");

    new StoredFiles(local(orders)).delete();
    assertThat(verified(orders, sha256).getReason()).isEqualTo("ArtifactVerified");
  }

  /** Returns a pack of a new artifact whose copy on the node is whole. */
  private static Path damagedPack(Orders orders, String sha256) throws IOException {
    StoredFiles remote = new StoredFiles(lab.cluster().remote().folder());
    List<Path> before = remote.all();
    assertThat(ended(orders.remote(OperationType.UPLOAD, sha256)).getOutcome())
        .isEqualTo(Outcome.DONE);
    Path pack = remote.largestExcept(before);
    StoredFiles.flip(pack);
    return pack;
  }

  @Test
  void aFailedRepairReportsTheDamage() throws IOException {
    Orders orders = Orders.inRemoteStore();
    String sha256 = saved(orders);
    Path pack = damagedPack(orders, sha256);
    // Nothing can be uploaded without the folder of leases.
    Path writers = Objects.requireNonNull(pack.getParent()).resolveSibling("writers");
    Files.delete(writers);
    Files.writeString(writers, "");

    GpuNodeOperationStatus status = verified(orders, sha256);

    assertDamaged(status, "; the repair failed: store ");
    Files.delete(writers);
    assertThat(verified(orders, sha256).getReason()).isEqualTo("Repaired");
  }

  @Test
  void aRepairThatRunsOutOfTimeReportsTheDamage(@TempDir Path folder) throws Exception {
    Orders orders = Orders.inRemoteStore();
    String sha256 = saved(orders);
    damagedPack(orders, sha256);
    GpuNodeOperation order = orders.remote(OperationType.VERIFY, sha256);
    order.getSpec().setDeadline(TimeSpan.of("5s"));
    ActiveOperation operation = Orders.active(order, OperationStage.CLAIMED);
    operation.enter(OperationPhase.CLAIMED);
    StatusWriter writer = new StatusWriter(lab.cluster(), AgentLab.BRIEF, (written, status) -> {});
    AgentParts parts =
        AgentLab.parts(
            lab.cluster(),
            new LabNode(folder),
            folder,
            lab.engine().engine(),
            AgentLab.transfers(),
            false,
            AgentLab.BRIEF,
            new SimpleMeterRegistry());
    // An upload that does not end.
    Semaphore uploads = new Semaphore(0);

    OperationResult result =
        new VerifyJob(
                parts, new OperationRecorder((uid, description) -> {}, writer, () -> {}), uploads)
            .run(operation);

    assertThat(result.reason()).isEqualTo("ArtifactDamaged");
    assertThat(result.message()).contains("; the repair failed: the deadline passed");
  }

  @Test
  void anArtifactThatIsGoneFromItsRemoteStoreIsDamaged() throws IOException {
    Orders orders = Orders.inRemoteStore();
    String sha256 = saved(orders);
    new StoredFiles(local(orders)).delete();

    assertDamaged(verified(orders, sha256), "expected it in the store");
  }
}
