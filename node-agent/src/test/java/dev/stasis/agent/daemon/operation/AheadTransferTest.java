package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.Forced;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An artifact that goes from node to node while it is made. */
class AheadTransferTest {

  private final Orders orders = Orders.ofSomebody();
  private String frozen = "";

  @SuppressWarnings("NullAway.Init")
  private static AgentLab here;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab there;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  @BeforeAll
  static void begin() throws InterruptedException {
    here = new AgentLab(1, 128);
    there = new AgentLab(1, 128);
    source =
        here.pod(
            "trainer",
            ContainerSpec.counter(here.engine().gpus(), "--mib", "16", "--interval-ms", "100"),
            Map.of());
    source.container().awaitSteps(3);
    here.start();
    there.start();
  }

  @AfterEach
  void theWorkloadRunsAndNothingIsLeft() throws InterruptedException {
    for (Work held : here.engine().engine().thaw().inHand()) {
      assertThat(held.phase()).isEqualTo(Work.Phase.HELD);
      here.cluster().awaitEnd(name(here, orders.of(OperationType.THAW, source, frozen)));
    }
    here.engine().assertNothingLeft();
    source.container().awaitSteps(2);
    source.container().verify(16);
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    here.close();
    there.close();
  }

  @Test
  void theArtifactIsOnTheTargetWhenTheSourceIsHeld() throws Exception {
    String receive = listening();
    String send = send(address(receive));
    here.cluster().await(send, OperationPhase.RUNNING);
    String freeze = freeze();

    GpuNodeOperationStatus held = here.cluster().await(freeze, OperationPhase.HELD);
    GpuNodeOperationStatus sent = here.cluster().awaitEnd(send);
    GpuNodeOperationStatus received = there.cluster().awaitEnd(receive);

    assertThat(sent.getPhase()).as(sent.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(received.getPhase()).as(received.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    String sha256 = Objects.requireNonNull(artifact(held).getSha256());
    assertThat(artifact(received).getSha256()).isEqualTo(sha256);
    assertThat(artifact(received).getBytes()).isEqualTo(artifact(held).getBytes());
    assertThat(new ArtifactReader(2, (done, total) -> {}).open(path(there), sha256))
        .isInstanceOf(Opened.Verified.class);
  }

  @Test
  void aSendThatComesWhenItIsHeldAlreadySendsItAll() throws Exception {
    String receive = listening();
    String freeze = freeze();
    here.cluster().await(freeze, OperationPhase.HELD);

    GpuNodeOperationStatus sent = here.cluster().awaitEnd(send(address(receive)));

    assertThat(sent.getPhase()).as(sent.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(there.cluster().awaitEnd(receive).getPhase()).isEqualTo(OperationPhase.SUCCEEDED);
  }

  @Test
  void aFreezeThatFailsEndsTheSendAndLeavesNothingThere() throws Exception {
    here.engine().gpus().fault("checkpoint", "error 999");
    String receive = listening();
    String send = send(address(receive));
    here.cluster().await(send, OperationPhase.RUNNING);

    GpuNodeOperationStatus failed = here.cluster().awaitEnd(freeze());
    GpuNodeOperationStatus sent = here.cluster().awaitEnd(send);
    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));
    GpuNodeOperationStatus received = there.cluster().awaitEnd(receive);

    assertThat(failed.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(sent.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(sent.getMessage()).contains("the freeze is undone: Checkpoint of process");
    assertThat(received.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertNothingThere();
  }

  @Test
  void aWorkloadToldToEndWhileFrozenLeavesNoArtifact() throws Exception {
    here.engine().gpus().fault("checkpoint", "hold");
    String receive = listening();
    String send = send(address(receive));
    here.cluster().await(send, OperationPhase.RUNNING);
    String freeze = freeze();
    here.awaitHeld("checkpoint");
    here.cluster().delete(source.pod());
    here.engine().gpus().release("checkpoint");

    GpuNodeOperationStatus failed = here.cluster().awaitEnd(freeze);

    assertThat(failed.getReason()).as(failed.getMessage()).isEqualTo("PodNotRunning");
    assertThat(failed.getMessage()).contains("the workload was told to end in the meantime");
    assertThat(failed.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(failed.getArtifact()).isNull();
    assertThat(here.cluster().awaitEnd(send).getPhase()).isEqualTo(OperationPhase.FAILED);
    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));
    there.cluster().awaitEnd(receive);
    assertNothingThere();
    // Only its kubelet would end it.
    here.cluster().put(source.pod());
  }

  @Test
  void anUnavailableApiServerDoesNotExtendTheFreeze() throws Exception {
    here.engine().gpus().fault("checkpoint", "hold");
    String freeze = freeze();
    here.awaitHeld("checkpoint");
    here.cluster().goAway();
    here.engine().gpus().release("checkpoint");
    awaitArtifact();
    here.cluster().comeBack();

    GpuNodeOperationStatus held = here.cluster().await(freeze, OperationPhase.HELD);
    assertThat(artifact(held).getSha256()).isNotNull();
  }

  private void awaitArtifact() {
    Awaitility.await().atMost(FileCluster.LIMIT).until(() -> Files.exists(path(here)));
  }

  /** Once the source is gone it is the only copy, so it must not be in the page cache alone. */
  @Test
  void aHeldArtifactAndItsJournalAreSynced() throws Exception {
    try (Forced forced = Forced.record()) {
      String freeze = freeze();
      here.cluster().await(freeze, OperationPhase.HELD);

      Awaitility.await("the manifest on the disk")
          .atMost(Duration.ofSeconds(60))
          .until(() -> forced.paths().stream().anyMatch(path -> path.endsWith("manifest.json")));
      assertThat(forced.paths())
          .anyMatch(
              path -> path.endsWith(Path.of("work", source.container().id(), "work.json.new")))
          .anyMatch(path -> path.endsWith(Path.of("work", source.container().id())));
    }
  }

  @Test
  void anUnreachablePeerDoesNotFailTheFreeze() throws Exception {
    String send = send("127.0.0.1:1");
    here.cluster().await(send, OperationPhase.RUNNING);

    GpuNodeOperationStatus held = here.cluster().await(freeze(), OperationPhase.HELD);
    here.cluster().edit(send, operation -> operation.getSpec().setCancel(true));

    assertThat(artifact(held).getSha256()).isNotNull();
    assertThat(here.cluster().awaitEnd(send).getReason()).isEqualTo("Cancelled");
  }

  @Test
  void anArtifactOfAnotherRequesterIsNotSent() throws Exception {
    GpuNodeOperation operation =
        orders.ahead(OperationType.SEND, transfer(), "127.0.0.1:1", there.certificate());
    operation
        .getSpec()
        .setArtifact(
            new dev.stasis.api.v1beta1.operation.ArtifactReference(
                "local", "ml/train-" + orders.requester(), "ml", "somebody-else", null));
    String send = here.cluster().create(operation).getMetadata().getName();
    here.cluster().await(send, OperationPhase.RUNNING);
    here.cluster().await(freeze(), OperationPhase.HELD);

    assertThat(here.cluster().status(send).getPhase()).isEqualTo(OperationPhase.RUNNING);
    assertThat(here.cluster().status(send).getTotalBytes()).isNull();
    here.cluster().edit(send, it -> it.getSpec().setCancel(true));
    here.cluster().awaitEnd(send);
  }

  @Test
  void aTransferWithoutADigestIsRefusedUnlessItPrecedesTheFreeze() throws Exception {
    GpuNodeOperationStatus refused =
        there
            .cluster()
            .awaitEnd(
                there
                    .cluster()
                    .create(
                        orders.transfer(
                            OperationType.RECEIVE, null, transfer(), null, here.certificate()))
                    .getMetadata()
                    .getName());

    assertThat(refused.getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(refused.getMessage()).contains("artifact.sha256: expected a digest, got none");
  }

  private static String name(AgentLab lab, GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private String freeze() {
    frozen =
        name(
            here,
            orders.checkpoint(
                source,
                how -> {
                  how.setAfterwards(Afterwards.HOLD);
                  how.setHeldUntilDecided(true);
                }));
    return frozen;
  }

  private String listening() {
    String name =
        name(there, orders.ahead(OperationType.RECEIVE, transfer(), null, here.certificate()));
    there.cluster().await(name, status -> status.getListening() != null);
    return name;
  }

  private String send(String address) {
    return name(here, orders.ahead(OperationType.SEND, transfer(), address, there.certificate()));
  }

  private String address(String receive) {
    return Objects.requireNonNull(there.cluster().status(receive).getListening());
  }

  private String transfer() {
    return "m-" + orders.requester();
  }

  private static ArtifactStatus artifact(GpuNodeOperationStatus status) {
    return Objects.requireNonNull(status.getArtifact());
  }

  private Path path(AgentLab lab) {
    return lab.engine().store().resolve("ml/train-" + orders.requester());
  }

  private void assertNothingThere() throws java.io.IOException {
    try (Stream<Path> left = Files.walk(there.engine().store(), 2)) {
      assertThat(left).noneMatch(path -> path.toString().contains(orders.requester()));
    }
  }
}
