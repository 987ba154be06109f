package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An object that the operator cannot reconcile says so itself. */
@SuppressWarnings("NullAway") // what is not there fails the test
class ErrorStatusApiServerTest extends OnApiServer {

  @Test
  void anExceptionOfEveryReconciliationIsReportedAndTakenBack() {
    operator.close();
    restore(it -> {});
    // No phase comes after a final one.
    GpuRestore broken = restores().get(0);
    broken.setStatus(new GpuRestoreStatus());
    broken.getStatus().setPhase(RestorePhase.PENDING);
    broken.getStatus().setPhases(List.of(new PhaseTime<>(RestorePhase.SUCCEEDED, Instant.now())));
    client.resource(broken).updateStatus();
    startOperator();

    GpuRestore reported =
        until(
            it ->
                it.getStatus().getConditions() != null
                    && condition(it, "Reconciled").reason().equals("ReconcileFailed"));
    assertThat(condition(reported, "Reconciled").status()).isEqualTo(ConditionValue.FALSE);
    assertThat(condition(reported, "Reconciled").message()).contains("IllegalStateException");
    assertThat(phase(reported)).isEqualTo(RestorePhase.PENDING);

    client
        .resource(reported)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"phases\":null}}");
    until(it -> condition(it, "Reconciled").reason().equals("None"));
  }
}
