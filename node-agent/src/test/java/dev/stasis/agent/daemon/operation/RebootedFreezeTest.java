package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The node reboots while a workload is held: its processes and its journal are gone. */
class RebootedFreezeTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab();

  private final Orders orders = Orders.ofSomebody();
  private @Nullable String held;

  private static Path journal() {
    String container = workload.source().container().id();
    return workload.lab().engine().state().resolve("work").resolve(container);
  }

  private static Path aside() {
    return workload.lab().engine().state().resolve("aside");
  }

  @BeforeEach
  void reboot() throws Exception {
    held =
        workload.order(
            orders.checkpoint(workload.source(), how -> how.setAfterwards(Afterwards.HOLD)));
    workload.lab().start();
    workload.lab().cluster().await(held, OperationPhase.HELD);
    workload.lab().stop();
    Files.move(journal(), aside());
    workload
        .lab()
        .cluster()
        .edit(
            held,
            operation ->
                operation
                    .getStatus()
                    .setClaimedBy(new Claim("agent-before", "another-boot", Instant.now())));
  }

  /** The workload of this test is still frozen. */
  @AfterEach
  void thaw() throws Exception {
    workload.deleteArtifact(orders);
    workload.lab().stop();
    workload.lab().cluster().put(workload.source().pod());
    Files.move(aside(), journal());
    String container = workload.source().container().id();
    assertThat(workload.lab().engine().engine().thaw().run(container, StepListener.NONE))
        .isInstanceOf(ThawOutcome.Ended.class);
  }

  private GpuNodeOperationStatus end() {
    return workload.lab().cluster().awaitEnd(Objects.requireNonNull(held));
  }

  @Test
  void anEvictedWorkloadWhoseArtifactIsStoredHasEnded() throws Exception {
    workload.lab().cluster().delete(workload.source().pod());
    workload.lab().start();
    GpuNodeOperationStatus status = end();
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.ENDED);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.FALSE);
    assertThat(status.getArtifact()).isNotNull();
  }

  @Test
  void anEvictedWorkloadIsNotLostWhileTheApiServerIsUnreachable() throws Exception {
    workload.lab().cluster().delete(workload.source().pod());
    workload.lab().cluster().storeIsAway.set(true);
    workload.lab().start();
    assertThat(end().getOutcome()).isEqualTo(Outcome.DONE);
  }

  /** Otherwise the operator would report it as Ready, because the pod is gone. */
  @Test
  void aDamagedArtifactIsLostAndNotNamed() throws Exception {
    workload.lab().cluster().delete(workload.source().pod());
    Path image;
    try (Stream<Path> files = Files.walk(workload.lab().engine().store())) {
      image = files.filter(file -> file.endsWith("criu/inventory.img")).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(image);
    bytes[0] ^= 1;
    Files.write(image, bytes);
    workload.lab().start();
    GpuNodeOperationStatus status = end();
    assertThat(status.getOutcome()).isEqualTo(Outcome.LOST);
    assertThat(status.getArtifact()).isNull();
  }

  /** Otherwise the only copy of the workload would have no name. */
  @Test
  void anArtifactWhoseStoreIsNotMountedYetStaysNamed() throws Exception {
    workload.lab().cluster().delete(workload.source().pod());
    Path namespace = workload.lab().engine().store().resolve("ml");
    Path later = workload.lab().engine().store().resolveSibling("mounted-later");
    Files.move(namespace, later);
    try {
      workload.lab().start();
      GpuNodeOperationStatus status = end();
      assertThat(status.getOutcome()).isEqualTo(Outcome.LOST);
      assertThat(status.getArtifact()).isNotNull();
    } finally {
      Files.move(later, namespace);
    }
  }

  @Test
  void aWorkloadWhosePodStaysIsLost() throws Exception {
    workload.lab().start();
    assertThat(end().getOutcome()).isEqualTo(Outcome.LOST);
  }
}
