package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.DirectLab;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A transfer to an agent that knows the target, and loads its GPU while the artifact arrives. */
class PrefetchedTransferTest {

  private final Orders orders = Orders.ofSomebody();
  private final AgentLab here = new AgentLab(1, 256);
  private final AgentLab there = new AgentLab(1, 256);
  private final DirectLab keepers = new DirectLab(there.engine());

  @SuppressWarnings("NullAway.Init")
  private AgentLab.Placed source;

  @SuppressWarnings("NullAway.Init")
  private AgentLab.Placed target;

  @BeforeEach
  void begin() throws InterruptedException {
    source = here.pod("trainer", new DirectLab(here.engine()).counter(), Map.of());
    source.container().awaitSteps(3);
    target = there.pod("trainer-x", keepers.counter().asHolder(), orders.labels());
    here.start();
    there.start();
  }

  @AfterEach
  void end() throws InterruptedException {
    target.close();
    Awaitility.await("keepers end with their container")
        .atMost(FileCluster.LIMIT)
        .untilAsserted(() -> assertThat(serving()).isEmpty());
    source.close();
    here.close();
    there.close();
  }

  private List<ProcessId> serving() {
    return keepers.keepers("serve");
  }

  private void awaitKeeper() {
    Awaitility.await("a keeper starts before the freeze")
        .atMost(FileCluster.LIMIT)
        .untilAsserted(() -> assertThat(serving()).hasSize(1));
  }

  private static String name(AgentLab lab, GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private String listening(OperationPod into) {
    GpuNodeOperation receive = orders.ahead(OperationType.RECEIVE, "m-1", null, here.certificate());
    Objects.requireNonNull(receive.getSpec().getTransfer()).setTarget(into);
    String name = name(there, receive);
    there.cluster().await(name, status -> status.getListening() != null);
    return name;
  }

  private OperationPod targetPod() {
    return new OperationPod("ml", target.name(), target.uid(), "main");
  }

  @Test
  void theTargetRunsWithWhatArrived() throws Exception {
    String receive = listening(targetPod());
    awaitKeeper();
    String address = Objects.requireNonNull(there.cluster().status(receive).getListening());
    name(here, orders.ahead(OperationType.SEND, "m-1", address, there.certificate()));
    String freeze =
        name(
            here,
            orders.checkpoint(
                source,
                how -> {
                  how.setAfterwards(Afterwards.HOLD);
                  how.setHeldUntilDecided(true);
                }));
    GpuNodeOperationStatus held = here.cluster().await(freeze, OperationPhase.HELD);
    GpuNodeOperationStatus received = there.cluster().awaitEnd(receive);
    assertThat(received.getOutcome()).as(received.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(serving()).as("kept for the restore").hasSize(1);
    List<String> before = source.container().lines();

    GpuNodeOperationStatus restored =
        there
            .cluster()
            .awaitEnd(
                name(
                    there,
                    orders.restore(
                        target,
                        Objects.requireNonNull(
                            Objects.requireNonNull(held.getHardware()).fingerprint()),
                        Objects.requireNonNull(
                            Objects.requireNonNull(received.getArtifact()).getSha256()))));

    assertThat(restored.getOutcome()).as(restored.getMessage()).isEqualTo(Outcome.DONE);
    target.container().awaitSteps(3);
    target.container().verify(16, before);
    here.cluster().awaitEnd(name(here, orders.of(OperationType.THAW, source, freeze)));
  }

  @Test
  void aCancelledTransferLeavesNoKeeper() throws Exception {
    String receive = listening(targetPod());
    awaitKeeper();

    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));

    assertThat(there.cluster().awaitEnd(receive).getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(serving()).isEmpty();
  }

  @Test
  void anAgentThatStopsLeavesNoKeeper() throws Exception {
    listening(targetPod());
    awaitKeeper();

    there.stop();

    assertThat(serving()).isEmpty();
  }

  @Test
  void aTargetThatIsNotThereDelaysNothing() throws Exception {
    String receive = listening(new OperationPod("ml", target.name(), "another-uid", "main"));

    assertThat(serving()).isEmpty();
    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));
    there.cluster().awaitEnd(receive);
  }

  @Test
  void aTargetOfAnotherNamespaceIsNotTouched() throws Exception {
    String receive = listening(new OperationPod("others", target.name(), target.uid(), "main"));

    assertThat(serving()).isEmpty();
    there.cluster().edit(receive, operation -> operation.getSpec().setCancel(true));
    there.cluster().awaitEnd(receive);
  }
}
