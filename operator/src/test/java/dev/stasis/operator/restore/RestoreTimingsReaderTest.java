package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.lang.reflect.Field;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RestoreTimingsReaderTest {

  private static final Instant PROVEN = Instant.parse("2026-11-27T10:00:03.250Z");

  @Test
  void theTimeThatTheAgentMeasuredCounts() {
    RestoreTimings reported = new RestoreTimings();
    reported.setTookMilliseconds(1440L);

    RestoreTimings timings = timings(reported);

    assertThat(timings.getTookMilliseconds()).isEqualTo(1440);
    assertThat(timings.getTook()).isEqualTo("1.4s");
    assertThat(timings.getWaitedMilliseconds()).isEqualTo(1000);
  }

  @Test
  void withoutItTheStartThatThePodTellsCounts() {
    assertThat(timings(new RestoreTimings()).getTookMilliseconds()).isEqualTo(2250);
  }

  @Test
  void theReportOfTheAgentStaysUnchanged() {
    RestoreTimings reported = new RestoreTimings();
    reported.setLayerMilliseconds(20L);
    reported.setProofMilliseconds(900L);

    RestoreTimings timings = timings(reported);

    assertThat(timings.getLayerMilliseconds()).isEqualTo(20);
    assertThat(timings.getProofMilliseconds()).isEqualTo(900);
    assertThat(timings.getTookMilliseconds()).isEqualTo(2250);
    assertThat(reported.getWaitedMilliseconds()).isNull();
    assertThat(reported.getTookMilliseconds()).isNull();
    assertThat(reported.getTook()).isNull();
  }

  @Test
  void aCopyHasAllDurations() throws IllegalAccessException {
    RestoreTimings reported = new RestoreTimings();
    for (Field field : RestoreTimings.class.getDeclaredFields()) {
      if (!field.isSynthetic()) {
        field.setAccessible(true);
        field.set(reported, field.getType() == Long.class ? 7L : "7s");
      }
    }
    assertThat(reported.copy()).usingRecursiveComparison().isEqualTo(reported);
  }

  private static RestoreTimings timings(RestoreTimings reported) {
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setRestoreTimings(reported);
    status.setProof(new Proof(PROVEN, null, null, null));
    GpuRestore restore = new GpuRestore();
    restore.getMetadata().setCreationTimestamp("2026-11-27T09:59:59Z");
    return new RestoreTimingsReader()
        .timings(restore, target(), "main", new OperationView(new GpuNodeOperation(), status));
  }

  private static Pod target() {
    return new PodBuilder()
        .withNewMetadata()
        .withCreationTimestamp("2026-11-27T10:00:00Z")
        .endMetadata()
        .withNewStatus()
        .addNewContainerStatus()
        .withName("main")
        .withNewState()
        .withNewRunning()
        .withStartedAt("2026-11-27T10:00:01Z")
        .endRunning()
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }
}
