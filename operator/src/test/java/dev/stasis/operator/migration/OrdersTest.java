package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
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
}
