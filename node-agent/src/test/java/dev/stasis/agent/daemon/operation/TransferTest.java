package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Opened;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An artifact on its way from the agent of one node to that of another. */
class TransferTest {

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

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    here.close();
    there.close();
  }

  @Test
  void anArtifactGoesFromNodeToNodeAndIsTheSame() throws Exception {
    Orders orders = Orders.ofSomebody();
    String sha256 = saved(orders);

    String receive = listening(orders, sha256, "m-1");
    GpuNodeOperationStatus sent =
        here.cluster().awaitEnd(send(orders, sha256, "m-1", address(receive)));
    GpuNodeOperationStatus received = there.cluster().awaitEnd(receive);

    assertThat(sent.getPhase()).as(sent.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(received.getPhase()).as(received.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(Objects.requireNonNull(received.getArtifact()).getSha256()).isEqualTo(sha256);
    assertThat(opened(there, orders, sha256)).isInstanceOf(Opened.Verified.class);
    assertThat(opened(here, orders, sha256)).isInstanceOf(Opened.Verified.class);
  }

  @Test
  void anArtifactOnTheTargetIsNotSentAgain() throws Exception {
    Orders orders = Orders.ofSomebody();
    String sha256 = saved(orders);

    GpuNodeOperationStatus received =
        here.cluster()
            .awaitEnd(
                name(
                    here,
                    orders.transfer(
                        OperationType.RECEIVE, sha256, "m-2", null, there.certificate())));

    assertThat(received.getPhase()).as(received.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(received.getListening()).isNull();
  }

  @Test
  void anotherArtifactThanTheOneThatIsExpectedLeavesNothingBehind() throws Exception {
    Orders orders = Orders.ofSomebody();
    String sha256 = saved(orders);

    String receive = listening(orders, "0".repeat(64), "m-3");
    here.cluster().awaitEnd(send(orders, sha256, "m-3", address(receive)));
    GpuNodeOperationStatus received = there.cluster().awaitEnd(receive);

    assertThat(received.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(received.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(received.getMessage()).contains("expected 000");
    assertNothingOf(orders);
  }

  @Test
  void aReceiverThatIsCancelledEndsBothAndLeavesNothingBehind() throws Exception {
    Orders orders = Orders.ofSomebody();
    String sha256 = saved(orders);
    String receive = listening(orders, sha256, "m-4");
    String address = address(receive);

    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));
    GpuNodeOperationStatus received = there.cluster().awaitEnd(receive);
    GpuNodeOperationStatus sent = here.cluster().awaitEnd(send(orders, sha256, "m-4", address));

    assertThat(Objects.requireNonNull(received.getPhase()).isFinal()).isTrue();
    assertThat(received.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(sent.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertNothingOf(orders);
  }

  @Test
  void aReceiverToWhichNobodyComesEndsWithItsDeadline() throws Exception {
    Orders orders = Orders.ofSomebody();
    GpuNodeOperation operation =
        orders.transfer(OperationType.RECEIVE, "0".repeat(64), "m-5", null, here.certificate());
    operation.getSpec().setDeadline(TimeSpan.of("2s"));

    GpuNodeOperationStatus received = there.cluster().awaitEnd(name(there, operation));

    assertThat(received.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(received.getMessage()).contains("deadline");
    assertNothingOf(orders);
  }

  @Test
  void anArtifactOfSomebodyElseIsNotSent() throws Exception {
    Orders owner = Orders.ofSomebody();
    String sha256 = saved(owner);
    Orders stranger = Orders.ofSomebody();
    GpuNodeOperation operation =
        stranger.transfer(OperationType.SEND, sha256, "m-6", "127.0.0.1:1", there.certificate());
    operation
        .getSpec()
        .setArtifact(
            new dev.stasis.api.v1beta1.operation.ArtifactReference(
                "local", "ml/train-" + owner.requester(), "ml", stranger.requester(), sha256));

    GpuNodeOperationStatus sent = here.cluster().awaitEnd(name(here, operation));

    assertThat(sent.getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(sent.getReason()).isEqualTo("OtherNamespace");
  }

  private static String saved(Orders orders) {
    GpuNodeOperationStatus status =
        here.cluster()
            .awaitEnd(
                name(here, orders.checkpoint(source, how -> how.setAfterwards(Afterwards.RESUME))));
    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    return Objects.requireNonNull(Objects.requireNonNull(status.getArtifact()).getSha256());
  }

  private static String listening(Orders orders, String sha256, String id) {
    String name =
        name(there, orders.transfer(OperationType.RECEIVE, sha256, id, null, here.certificate()));
    there.cluster().await(name, status -> status.getListening() != null);
    return name;
  }

  private static String address(String receive) {
    return Objects.requireNonNull(there.cluster().status(receive).getListening());
  }

  private static String send(Orders orders, String sha256, String id, String address) {
    return name(
        here, orders.transfer(OperationType.SEND, sha256, id, address, there.certificate()));
  }

  private static String name(AgentLab lab, GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private static Path path(AgentLab lab, Orders orders) {
    return lab.engine().store().resolve("ml/train-" + orders.requester());
  }

  private static Opened opened(AgentLab lab, Orders orders, String sha256) throws IOException {
    return new ArtifactReader(2, (done, total) -> {}).open(path(lab, orders), sha256);
  }

  private static void assertNothingOf(Orders orders) throws IOException {
    // Where the deadline passes before it began, there is not even the namespace's folder.
    try (Stream<Path> left = Files.walk(there.engine().store(), 2)) {
      assertThat(left).noneMatch(path -> path.toString().contains(orders.requester()));
    }
  }
}
