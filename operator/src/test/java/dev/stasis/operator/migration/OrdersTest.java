package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OrdersTest {

  private final Moving moving = new Moving();
  private final Orders orders = new Orders(new Template(new KubernetesSerialization()));

  @Test
  @SuppressWarnings("NullAway") // what is not there fails the test
  void aWorkloadThatIsNotPortableIsRefusedByTheInspection() {
    Check.Admitted source = (Check.Admitted) moving.check;
    FreezeOrder look = orders.look(moving.view(), source).getFreeze();
    assertThat(look.getDryRun()).isTrue();
    assertThat(look.getRequireRestorable()).isTrue();
    FreezeOrder freeze = orders.freeze(moving.view(), source).getFreeze();
    assertThat(freeze.getAfterwards()).isEqualTo(Afterwards.HOLD);
    assertThat(freeze.getRequireRestorable()).isTrue();
  }

  @Test
  void theDeadlineEndsNoOperationOnceOnlyTheArtifactIsLeft() {
    moving.held().status().setSourceHardware(new Hardware("580", null, "None", "", null));
    moving.now = Moving.NOW.plus(Duration.ofMinutes(10));
    assertThat(deadlines()).containsOnly(TimeSpan.of("1200s"));

    moving.source().getMetadata().setDeletionTimestamp(Moving.NOW.toString());
    assertThat(deadlines()).containsOnly(Operations.WAY_BACK);
    moving.now = Moving.NOW.plus(Duration.ofMinutes(31));
    assertThat(deadlines()).containsOnly(Operations.WAY_BACK);
    moving.deadline("2h");
    assertThat(deadlines()).containsOnly(TimeSpan.of("2h"));
  }

  /** Its agent loads device memory into the target only then. */
  @Test
  void onlyAReceiverOfTheDirectPathIsToldItsTarget() {
    moving.holding();
    for (DataPath path : DataPath.values()) {
      moving
          .get(OperationType.CHECKPOINT, Work.LOOK)
          .getStatus()
          .setExplanation(
              new Explanation(List.of(), List.of(), 1L, "1", 1L, "1s", path, "of the test"));
      TransferOrder ahead =
          Objects.requireNonNull(orders.receive(moving.view(), 1, Optional.empty()).getTransfer());
      assertThat(ahead.getTarget())
          .isEqualTo(
              path == DataPath.DIRECT
                  ? new OperationPod("ml", "trainer-x", "target-uid", "main")
                  : null);
      TransferOrder complete =
          Objects.requireNonNull(
              orders.receive(moving.view(), 1, Optional.of(Moving.artifact("here"))).getTransfer());
      assertThat(complete.getTarget()).isNull();
    }
  }

  /** The deadlines of what moves a workload whose artifact is complete. */
  private List<TimeSpan> deadlines() {
    MigrationContext view = moving.view();
    return Stream.of(
            orders.receive(view, 1, view.artifact()),
            orders.send(view, 1, view.artifact(), "10.0.0.2:8743"),
            orders.restore(view, Moving.artifact("there"), view.target().orElseThrow()))
        .map(GpuNodeOperationSpec::getDeadline)
        .toList();
  }
}
