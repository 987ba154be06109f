package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.operator.testing.TestOperator;
import dev.stasis.operator.workflow.StatusWriter;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two writers of one object. */
@SuppressWarnings("NullAway") // what is not there fails the test
class StatusWriteApiServerTest extends OnApiServer {

  @Test
  void aStatusIsNeverWrittenOverAChangeThatWasNotObserved() {
    operator.close();
    operator =
        TestOperator.start(
            Objects.requireNonNull(cluster),
            Clock.systemUTC(),
            List.of(
                parts ->
                    new Overtaken(
                        this::annotate,
                        new StatusWriter<>(
                            GpuRestoreStatus::new,
                            parts.changes(),
                            Duration.ofSeconds(1),
                            parts.clock()))));

    restore(it -> {});

    assertThat(until(it -> it.getStatus().getMessage() != null).getStatus().getMessage())
        .isEqualTo("observed 1 annotations");
  }

  /** No generation changes with it, so no reconciliation is triggered. */
  private void annotate() {
    client
        .resources(GpuRestore.class)
        .inNamespace(namespace)
        .withName("back")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"example.com/note\":\"overtaken\"}}}");
  }

  /** Another writer comes between the first observation and the write of the status. */
  @ControllerConfiguration(name = "gpurestore")
  private static final class Overtaken implements Reconciler<GpuRestore> {

    private final Runnable overtake;
    private final StatusWriter<GpuRestore, GpuRestoreStatus> statuses;
    private boolean overtaken;

    Overtaken(Runnable overtake, StatusWriter<GpuRestore, GpuRestoreStatus> statuses) {
      this.overtake = overtake;
      this.statuses = statuses;
    }

    @Override
    public UpdateControl<GpuRestore> reconcile(GpuRestore restore, Context<GpuRestore> context) {
      Optional<JsonNode> before = statuses.read(restore);
      Map<String, String> annotations =
          Objects.requireNonNullElse(restore.getMetadata().getAnnotations(), Map.of());
      restore.getStatus().setMessage("observed " + annotations.size() + " annotations");
      if (!overtaken) {
        overtaken = true;
        overtake.run();
      }
      return statuses.write(restore, before, Duration.ZERO, Optional.empty(), context);
    }
  }
}
