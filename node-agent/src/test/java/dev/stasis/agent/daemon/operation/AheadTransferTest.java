package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.operation.Afterwards;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An artifact that goes from node to node while it is made. */
class AheadTransferTest {

  private final Orders orders = Orders.ofSomebody();

  @SuppressWarnings("NullAway.Init")
  private AgentLab here;

  @SuppressWarnings("NullAway.Init")
  private AgentLab there;

  @SuppressWarnings("NullAway.Init")
  private AgentLab.Placed source;

  @BeforeEach
  void begin() throws InterruptedException {
    here = new AgentLab(1, 128);
    there = new AgentLab(1, 128);
    source =
        here.pod(
            "trainer",
            ContainerSpec.counter(here.engine().gpus(), "--mib", "16", "--interval-ms", "20"),
            Map.of());
    source.container().awaitSteps(3);
    here.start();
    there.start();
  }

  @AfterEach
  void end() throws InterruptedException {
    source.close();
    here.close();
    there.close();
  }

  @Test
  void itIsThereWhenItIsHeldAndIsTheSame() throws Exception {
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
    assertThat(
            new ArtifactReader(2, (done, total) -> {})
                .open(path(there), ArtifactReader.Regions.NOW, sha256))
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
    source.container().awaitSteps(2);
    source.container().verify(16);
  }

  @Test
  void whatIsToldToEndWhileItIsFrozenIsNoArtifact() throws Exception {
    here.engine().gpus().fault("checkpoint", "slow 2500");
    String receive = listening();
    String send = send(address(receive));
    here.cluster().await(send, OperationPhase.RUNNING);
    String freeze = freeze();
    here.cluster().await(freeze, OperationPhase.RUNNING);
    here.cluster().delete(source.pod());

    GpuNodeOperationStatus failed = here.cluster().awaitEnd(freeze);

    assertThat(failed.getReason()).as(failed.getMessage()).isEqualTo("PodNotRunning");
    assertThat(failed.getMessage()).contains("the workload was told to end meanwhile");
    assertThat(failed.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(failed.getArtifact()).isNull();
    assertThat(here.cluster().awaitEnd(send).getPhase()).isEqualTo(OperationPhase.FAILED);
    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));
    there.cluster().awaitEnd(receive);
    assertNothingThere();
    // Its kubelet ends it, nobody else.
    source.container().awaitSteps(2);
    source.container().verify(16);
  }

  @Test
  void anApiServerThatIsAwayIsNotWaitedForWhileTheWorkloadStandsStill() throws Exception {
    here.engine().gpus().fault("checkpoint", "slow 2500");
    String freeze = freeze();
    here.cluster().await(freeze, OperationPhase.RUNNING);
    here.cluster().goAway();
    awaitArtifact();
    here.cluster().comeBack();

    GpuNodeOperationStatus held = here.cluster().await(freeze, OperationPhase.HELD);
    assertThat(artifact(held).getSha256()).isNotNull();
  }

  private void awaitArtifact() {
    Awaitility.await().atMost(FileCluster.LIMIT).until(() -> Files.exists(path(here)));
  }

  @Test
  void aPeerThatIsNotThereIsNoMatterOfTheFreeze() throws Exception {
    String send = send("127.0.0.1:1");
    here.cluster().await(send, OperationPhase.RUNNING);

    GpuNodeOperationStatus held = here.cluster().await(freeze(), OperationPhase.HELD);
    here.cluster().edit(send, operation -> operation.getSpec().setCancel(true));

    assertThat(artifact(held).getSha256()).isNotNull();
    assertThat(here.cluster().awaitEnd(send).getReason()).isEqualTo("Cancelled");
  }

  @Test
  void whatIsMadeForSomebodyElseIsNotSent() throws Exception {
    GpuNodeOperation operation =
        orders.ahead(OperationType.SEND, "m-1", "127.0.0.1:1", there.certificate());
    operation
        .getSpec()
        .setArtifact(
            new dev.stasis.api.v1alpha1.operation.ArtifactReference(
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
  void withoutADigestOnlyWhatIsStillToBeMadeIsTaken() throws Exception {
    GpuNodeOperationStatus refused =
        there
            .cluster()
            .awaitEnd(
                there
                    .cluster()
                    .create(
                        orders.transfer(
                            OperationType.RECEIVE, null, "m-1", null, here.certificate()))
                    .getMetadata()
                    .getName());

    assertThat(refused.getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(refused.getMessage()).contains("artifact.sha256: wanted a digest, found none");
  }

  private String freeze() {
    return here.cluster()
        .create(
            orders.checkpoint(
                source,
                how -> {
                  how.setAfterwards(Afterwards.HOLD);
                  how.setHeldUntilDecided(true);
                }))
        .getMetadata()
        .getName();
  }

  private String listening() {
    String name =
        there
            .cluster()
            .create(orders.ahead(OperationType.RECEIVE, "m-1", null, here.certificate()))
            .getMetadata()
            .getName();
    there.cluster().await(name, status -> status.getListening() != null);
    return name;
  }

  private String send(String address) {
    return here.cluster()
        .create(orders.ahead(OperationType.SEND, "m-1", address, there.certificate()))
        .getMetadata()
        .getName();
  }

  private String address(String receive) {
    return Objects.requireNonNull(there.cluster().status(receive).getListening());
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
