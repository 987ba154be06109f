package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.List;
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
