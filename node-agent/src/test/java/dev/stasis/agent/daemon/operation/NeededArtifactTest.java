package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An artifact stays for as long as a workload may have nothing else. */
class NeededArtifactTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  private final Orders orders = Orders.ofSomebody();

  @BeforeAll
  static void begin() throws InterruptedException {
    lab = new AgentLab(1, 128);
    source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100"),
            Map.of());
    source.container().awaitSteps(3);
    lab.start();
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    lab.close();
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private String held() {
    String name = order(orders.checkpoint(source, how -> how.setAfterwards(Afterwards.HOLD)));
    lab.cluster().await(name, OperationPhase.HELD);
    return name;
  }

  private Path artifact() {
    return lab.engine().store().resolve("ml/train-" + orders.requester());
  }

  private void runsOnAndTheArtifactCanBeDeleted() {
    source.container().awaitSteps(3);
    source.container().verify(MIB);
    GpuNodeOperationStatus deleted = lab.cluster().awaitEnd(order(orders.delete()));
    assertThat(deleted.getOutcome()).as(deleted.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(artifact()).doesNotExist();
  }

  /** The sweep has read the object while its artifact was to be deleted with it. */
  @Test
  void anArtifactThatOutlivesItsObjectLosesTheMarkOfTheSweep() throws Exception {
    lab.cluster().awaitEnd(order(orders.checkpoint(source, how -> {})));
    Path mark = artifact().resolveSibling(".goes-with-its-object-" + artifact().getFileName());
    Path retained = artifact().resolveSibling(".outlives-its-object-" + artifact().getFileName());
    Files.writeString(mark, "uid-of-the-store\n");

    GpuNodeOperation theirs = Orders.ofSomebody().ofArtifact(OperationType.RETAIN_ARTIFACT);
    ArtifactReference ours = orders.artifact(null);
    theirs
        .getSpec()
        .setArtifact(
            new ArtifactReference(
                ours.store(), ours.location(), ours.namespace(), "another", null));
    assertThat(lab.cluster().awaitEnd(order(theirs)).getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(mark).exists();

    GpuNodeOperationStatus status =
        lab.cluster().awaitEnd(order(orders.ofArtifact(OperationType.RETAIN_ARTIFACT)));
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(mark).doesNotExist();
    assertThat(retained).exists();
    runsOnAndTheArtifactCanBeDeleted();
    assertThat(retained).doesNotExist();
  }

  @Test
  void theArtifactOfAHeldWorkloadIsNotDeleted() throws Exception {
    String held = held();

    GpuNodeOperationStatus refused = lab.cluster().awaitEnd(order(orders.delete()));

    assertThat(refused.getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(refused.getFaults()).extracting(Fault::reason).containsExactly("InUse");
    assertThat(artifact()).isDirectory();
    GpuNodeOperationStatus thawed =
        lab.cluster().awaitEnd(order(orders.of(OperationType.THAW, source, held)));
    assertThat(thawed.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    runsOnAndTheArtifactCanBeDeleted();
  }

  /** Its kubelet is about to end the workload that was just thawed. */
  @Test
  void theArtifactOfAPodThatIsDeletedDuringItsThawStays() throws Exception {
    String held = held();
    lab.engine().gpus().fault("unlock", "hold");
    lab.cluster().edit(held, operation -> operation.getSpec().setCancel(true));
    lab.awaitHeld("unlock");
    lab.cluster().delete(source.pod());
    lab.engine().gpus().release("unlock");

    GpuNodeOperationStatus status = lab.cluster().awaitEnd(held);

    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getArtifact()).isNotNull();
    assertThat(artifact()).isDirectory();
    lab.cluster().put(source.pod());
    runsOnAndTheArtifactCanBeDeleted();
  }

  @Test
  void theArtifactOfAPodThatStaysGoesWithItsCancelledFreeze() throws Exception {
    String held = held();
    lab.cluster().edit(held, operation -> operation.getSpec().setCancel(true));

    GpuNodeOperationStatus status = lab.cluster().awaitEnd(held);

    assertThat(status.getPhase()).isEqualTo(OperationPhase.CANCELLED);
    assertThat(status.getArtifact()).isNull();
    assertThat(artifact()).doesNotExist();
    source.container().awaitSteps(3);
  }
}
