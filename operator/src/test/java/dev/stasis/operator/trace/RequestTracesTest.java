package dev.stasis.operator.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.testing.TestConfig;
import dev.stasis.trace.Span;
import dev.stasis.trace.Spans;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestTracesTest {

  private static final Instant T = Instant.parse("2026-11-21T10:00:00Z");

  private final List<Span> told = new ArrayList<>();
  private final KubernetesClient nobody = new KubernetesClientBuilder().build();
  private final RequestTraces traces =
      new RequestTraces(
          new Informers(nobody, new TestConfig("stasis-system")),
          new Spans() {
            @Override
            public boolean areWanted() {
              return true;
            }

            @Override
            public void add(Span span) {
              told.add(span);
            }
          });

  @AfterEach
  void close() {
    nobody.close();
  }

  private static GpuCheckpoint checkpoint(CheckpointPhase... phases) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("ml")
            .withName("train-1")
            .withUid("6f1c0a9e-0f3b-4c55-9d7e-2b8f00c0ffee")
            .withCreationTimestamp("2026-11-21T09:59:58Z")
            .build());
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    List<PhaseTime<CheckpointPhase>> entered = new ArrayList<>();
    for (CheckpointPhase phase : phases) {
      entered.add(new PhaseTime<>(phase, T.plus(Duration.ofSeconds(entered.size()))));
    }
    status.setPhases(entered);
    status.setMessage("the message");
    checkpoint.setStatus(status);
    return checkpoint;
  }

  private void goes(GpuCheckpoint before, GpuCheckpoint after) {
    traces.onChange(new Changed<>(Optional.of(before), Optional.of(after)));
  }

  @Test
  void aRequestIsToldWhenItIsOverWithItsPhases() {
    GpuCheckpoint saving = checkpoint(CheckpointPhase.PENDING, CheckpointPhase.SAVING);
    goes(checkpoint(CheckpointPhase.PENDING), saving);
    assertThat(told).isEmpty();

    goes(
        saving, checkpoint(CheckpointPhase.PENDING, CheckpointPhase.SAVING, CheckpointPhase.READY));

    assertThat(told).extracting(Span::name).containsExactly("GpuCheckpoint", "Pending", "Saving");
    Span all = told.get(0);
    assertThat(all.context().traceId()).isEqualTo("6f1c0a9e0f3b4c559d7e2b8f00c0ffee");
    assertThat(all.start()).isEqualTo("2026-11-21T09:59:58Z");
    assertThat(all.end()).isEqualTo(T.plusSeconds(2));
    assertThat(all.error()).isEmpty();
    assertThat(told.subList(1, 3))
        .allSatisfy(phase -> assertThat(phase.parent()).hasValue(all.context().spanId()));
  }

  @Test
  void aFailedSpanHasTheMessage() {
    goes(
        checkpoint(CheckpointPhase.PENDING),
        checkpoint(CheckpointPhase.PENDING, CheckpointPhase.FAILED));
    assertThat(told.get(0).error()).hasValue("the message");
  }

  @Test
  void aFinishedRequestIsNotTracedAgain() {
    GpuCheckpoint ready = checkpoint(CheckpointPhase.PENDING, CheckpointPhase.READY);
    goes(ready, ready);
    traces.onChange(new Changed<>(Optional.empty(), Optional.of(ready)));
    traces.onChange(new Changed<>(Optional.of(ready), Optional.empty()));
    assertThat(told).isEmpty();
  }
}
