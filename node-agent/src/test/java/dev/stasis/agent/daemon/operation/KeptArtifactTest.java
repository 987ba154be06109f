package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.SmallDisk;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A complete capture is published, also if its agent dies or the thaw fails. */
class KeptArtifactTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  private final Orders orders = Orders.ofSomebody();
  private final String hook = "runs-again-" + orders.requester();
  private final MeterRegistry metrics = lab.freshMetrics();

  @SuppressWarnings("NullAway.Init")
  private AgentLab.Placed source;

  @BeforeAll
  static void begin() {
    lab = new AgentLab(1, 128);
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  @BeforeEach
  void startWorkload() {
    source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100"),
            Map.of());
    source.container().awaitSteps(3);
  }

  @AfterEach
  void endWorkload() throws InterruptedException {
    lab.engine().gpus().mend("unlock");
    source.close();
    lab.stop();
    lab.endFencing();
  }

  private String checkpoint() {
    Hooks hooks =
        new Hooks(null, List.of(new Hook(new ExecAction(List.of(hook)), null, null, null)));
    GpuNodeOperation operation = orders.checkpoint(source, how -> how.setHooks(hooks));
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private Path artifact() {
    return lab.engine().store().resolve("ml/train-" + orders.requester());
  }

  /** The artifact is named, and every byte of it is right. */
  private void isKept(String operation) throws IOException {
    assertThat(Objects.requireNonNull(lab.cluster().status(operation).getArtifact()).getLocation())
        .isEqualTo("ml/train-" + orders.requester());
    assertThat(new ArtifactReader(Progress.NONE).open(artifact(), null))
        .isInstanceOf(Opened.Verified.class);
  }

  private void awaitTry(String outcome) {
    Awaitility.await("a thaw that ends " + outcome)
        .atMost(FileCluster.LIMIT)
        .until(
            () ->
                Optional.ofNullable(
                        metrics.find("stasis.thaw.tries").tag("outcome", outcome).counter())
                    .filter(counter -> counter.count() >= 1)
                    .isPresent());
  }

  /** Ends a workload that cannot be thawed; nothing but the artifact is left. */
  private void endsAndIsKept(String operation) throws IOException {
    source.container().end();
    lab.cluster().await(operation, said -> said.getWorkload() == WorkloadState.ENDED);
    lab.engine().assertNothingLeft();
    isKept(operation);
  }

  private static GpuNodeOperationStatus awaitNotThawed(String name, WorkloadState workload) {
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
    assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.NOT_UNDONE);
    assertThat(status.getWorkload()).isEqualTo(workload);
    return status;
  }

  /** The workload was never reported as running after its freeze, and was not told so. */
  private void wasNeverReportedAsRunning(String name) throws IOException {
    assertThat(lab.cluster().history(name))
        .extracting(GpuNodeOperationStatus::getWorkload)
        .doesNotContain(WorkloadState.RUNNING);
    assertThat(lab.node().ran()).doesNotContain(hook);
  }

  @Test
  void aSuccessorPublishesACompleteCapture() throws Exception {
    String name = checkpoint();
    DaemonChild.dies(lab, "CAPTURED", "");
    assertThat(artifact()).doesNotExist();
    lab.start();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    isKept(name);
    assertThat(lab.node().ran()).contains(hook);
    source.container().awaitSteps(3);
    source.container().verify(MIB);
    lab.engine().assertNothingLeft();
  }

  @Test
  void aSuccessorFailsWithoutACompleteCapture() throws Exception {
    String name = checkpoint();
    DaemonChild.dies(lab, "CAPTURED", "");
    try (Stream<Path> files = Files.walk(lab.engine().store())) {
      Files.delete(
          files
              .filter(file -> file.endsWith("layer/index.json"))
              .filter(file -> file.toString().contains("/.staging-"))
              .findFirst()
              .orElseThrow());
    }
    lab.start();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
    assertThat(status.getReason()).isEqualTo("AgentRestarted");
    assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getArtifact()).isNull();
    assertThat(artifact()).doesNotExist();
    source.container().awaitSteps(3);
    lab.engine().assertNothingLeft();
  }

  @Test
  void theArtifactOfAWorkloadThatTheDriverHasGivenUpIsNamedBeforeTheNextThaw() throws Exception {
    lab.engine().gpus().fault("unlock", "failed");
    String name = checkpoint();
    lab.start();
    awaitNotThawed(name, WorkloadState.UNKNOWN);
    isKept(name);
    wasNeverReportedAsRunning(name);
    awaitTry("Unknown");
    endsAndIsKept(name);
  }

  @Test
  void theArtifactOfAFrozenWorkloadOutlivesTheThawThatTheDriverGivesUp() throws Exception {
    lab.engine().gpus().fault("unlock", "error 999 always");
    String name = checkpoint();
    lab.start();
    awaitNotThawed(name, WorkloadState.FROZEN);
    isKept(name);
    wasNeverReportedAsRunning(name);
    lab.engine().gpus().fault("unlock", "failed");
    awaitTry("Unknown");
    endsAndIsKept(name);
  }

  /** The store is full when it is to take the artifact. */
  private String leftFrozenAndUnpublished(SmallDisk disk) {
    lab.engine().gpus().fault("restore", "hold");
    lab.engine().gpus().fault("unlock", "error 999 always");
    String name = checkpoint();
    lab.awaitHeld("restore");
    disk.fill();
    lab.engine().gpus().release("restore");
    assertThat(awaitNotThawed(name, WorkloadState.FROZEN).getArtifact()).isNull();
    return name;
  }

  @Test
  void theArtifactOfAFrozenWorkloadIsPublishedOnceItsStoreHasRoom() throws Exception {
    try (SmallDisk disk = new SmallDisk(lab.engine().store(), 400)) {
      lab.start();
      String name = leftFrozenAndUnpublished(disk);
      disk.free();
      GpuNodeOperationStatus status = lab.cluster().await(name, said -> said.getArtifact() != null);
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.FROZEN);
      isKept(name);
      lab.engine().gpus().mend("unlock");
      lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.RUNNING);
      isKept(name);
      lab.stop();
    }
  }

  @Test
  void theOnlyCopyOfAWorkloadThatHasEndedIsPublishedOnceItsStoreHasRoom() throws Exception {
    try (SmallDisk disk = new SmallDisk(lab.engine().store(), 400)) {
      lab.start();
      String name = leftFrozenAndUnpublished(disk);
      source.container().end();
      lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.UNKNOWN);
      disk.free();
      lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.ENDED);
      lab.engine().assertNothingLeft();
      isKept(name);
      lab.stop();
    }
  }

  /** In a pod that stays, its kubelet starts it again: it must not count as evicted. */
  @Test
  void aWorkloadThatEndsBeforeItIsHeldIsLostAndItsArtifactIsKept() throws Exception {
    String name =
        lab.cluster()
            .create(orders.checkpoint(source, how -> how.setAfterwards(Afterwards.HOLD)))
            .getMetadata()
            .getName();
    DaemonChild.dies(lab, "CAPTURED", "");
    source.container().end();
    lab.start();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.LOST);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.ENDED);
    isKept(name);
    lab.engine().assertNothingLeft();
  }

  /** No object names it, but it is in the store, and its agent accepts it. */
  @Test
  void theOnlyCopyOfAWorkloadWhoseOperationIsGoneIsPublishedForAnImport() throws Exception {
    Map<String, Object> container =
        Map.of("name", "main", "image", "a", "command", List.of("gpu-counter"));
    GpuNodeOperation operation =
        orders.checkpoint(
            source,
            how -> {
              how.setNamespaceUid("namespace-uid");
              how.setPodTemplate(
                  Map.of(
                      "metadata",
                      Map.of("name", "trainer", "namespace", "ml"),
                      "spec",
                      Map.of("containers", List.of(container))));
            });
    String name = lab.cluster().create(operation).getMetadata().getName();
    DaemonChild.dies(lab, "CAPTURED", "");
    source.container().end();
    lab.cluster().remove(name);

    lab.start();

    Awaitility.await("the publication")
        .atMost(FileCluster.LIMIT)
        .until(() -> lab.engine().engine().thaw().inHand().isEmpty());
    lab.engine().assertNothingLeft();
    ExpectedWorkload trainer = new ExpectedWorkload("trainer", null, "namespace-uid");
    String location = "ml/train-" + orders.requester();
    GpuNodeOperationStatus imported =
        lab.cluster()
            .awaitEnd(
                lab.cluster()
                    .create(orders.imported(location, trainer, null))
                    .getMetadata()
                    .getName());
    assertThat(imported.getOutcome()).as(imported.getMessage()).isEqualTo(Outcome.DONE);
  }

  @Test
  void aSuccessorPublishesTheArtifactBeforeItThaws() throws Exception {
    lab.engine().gpus().fault("unlock", "error 999 always");
    String name = checkpoint();
    DaemonChild.dies(lab, "CAPTURED", "");
    lab.start();
    awaitNotThawed(name, WorkloadState.FROZEN);
    isKept(name);
    lab.engine().gpus().mend("unlock");
    lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.RUNNING);
    isKept(name);
    source.container().awaitSteps(3);
    source.container().verify(MIB);
  }
}
