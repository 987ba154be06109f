package dev.stasis.operator.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.operator.cluster.ClusterParts;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.testing.SetClock;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StatusWriterTest {

  private static final Duration INTERVAL = Duration.ofHours(1);

  /** Any use of it is a write. */
  @SuppressWarnings("unchecked") // a context of any kind
  private static final Context<GpuCheckpoint> WRITES =
      (Context<GpuCheckpoint>)
          Proxy.newProxyInstance(
              StatusWriterTest.class.getClassLoader(),
              new Class<?>[] {Context.class},
              (proxy, method, arguments) -> {
                throw new Written();
              });

  private final GpuCheckpoint checkpoint = new GpuCheckpoint();
  private final SetClock clock = new SetClock();
  private final StatusWriter<GpuCheckpoint, GpuCheckpointStatus> statuses =
      new StatusWriter<>(
          GpuCheckpointStatus::new, new Changes(ClusterParts.serialization()), INTERVAL, clock);

  StatusWriterTest() {
    checkpoint.setMetadata(new ObjectMetaBuilder().withName("save").withUid("u").build());
  }

  @Test
  void aChangeThatMayWaitIsWrittenAfterThatTime() {
    assertThat(reported(INTERVAL).getScheduleDelay().orElseThrow())
        .isBetween(1L, INTERVAL.toMillis());
    clock.ahead(INTERVAL);
    assertThatThrownBy(() -> reported(INTERVAL)).isInstanceOf(Written.class);
    assertThat(reported(INTERVAL).getScheduleDelay()).isPresent();
  }

  @Test
  void anythingElseIsWrittenImmediately() {
    assertThatThrownBy(() -> reported(Duration.ZERO)).isInstanceOf(Written.class);
    reported(INTERVAL);
    assertThatThrownBy(() -> reported(Duration.ZERO)).isInstanceOf(Written.class);
  }

  @Test
  void anUnchangedStatusIsNotWritten() {
    checkpoint.setStatus(new GpuCheckpointStatus());
    Optional<JsonNode> before = statuses.read(checkpoint);
    assertThat(
            statuses
                .write(checkpoint, before, Duration.ZERO, Optional.empty(), WRITES)
                .getScheduleDelay())
        .isEmpty();
  }

  /** Reconciles an object without a status. */
  private UpdateControl<GpuCheckpoint> reported(Duration mayWait) {
    checkpoint.setStatus(null);
    Optional<JsonNode> before = statuses.read(checkpoint);
    Objects.requireNonNull(checkpoint.getStatus()).setMessage("requested");
    return statuses.write(checkpoint, before, mayWait, Optional.empty(), WRITES);
  }

  private static final class Written extends RuntimeException {}
}
