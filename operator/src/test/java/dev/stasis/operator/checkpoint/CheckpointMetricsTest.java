package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.testing.FakeCluster;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CheckpointMetricsTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Leadership leadership = new Leadership();
  private final FakeCluster cluster = new FakeCluster();
  private final CheckpointMetrics figures =
      new CheckpointMetrics(new StasisMetrics(registry), leadership);

  @BeforeEach
  void leads() {
    leadership.begin();
  }

  private static GpuCheckpoint checkpoint(
      Map<String, String> labels, CheckpointPhase phase, Reason source) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(new ObjectMetaBuilder().withNamespace("ml").withLabels(labels).build());
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(phase);
    status.setConditions(
        List.of(
            new Condition(
                "SourceRunning",
                ConditionValue.UNKNOWN,
                source.value(),
                "as seen",
                Instant.EPOCH,
                1L)));
    CheckpointTimings timings = new CheckpointTimings();
    timings.setFrozenMilliseconds(10L);
    status.setTimings(timings);
    checkpoint.setStatus(status);
    return checkpoint;
  }

  private void watched(GpuCheckpoint before, GpuCheckpoint after) {
    figures.observe(new Changed<>(Optional.of(before), Optional.of(after)), cluster);
  }

  private void ends(Map<String, String> labels, CheckpointPhase phase) {
    watched(
        checkpoint(labels, CheckpointPhase.SAVING, Reason.FROZEN),
        checkpoint(labels, phase, Reason.RESUMED));
  }

  private double counted(String kind, String outcome) {
    return registry.find("stasis_operations").counters().stream()
        .filter(one -> kind.equals(one.getId().getTag("kind")))
        .filter(one -> outcome.equals(one.getId().getTag("outcome")))
        .mapToDouble(one -> one.count())
        .sum();
  }

  @Test
  void aReplicaThatDoesNotLeadCountsNothing() {
    CheckpointMetrics other = new CheckpointMetrics(new StasisMetrics(registry), new Leadership());

    other.observe(
        new Changed<>(
            Optional.of(checkpoint(Map.of(), CheckpointPhase.SAVING, Reason.FROZEN)),
            Optional.of(checkpoint(Map.of(), CheckpointPhase.READY, Reason.RESUMED))),
        cluster);

    assertThat(registry.find("stasis_operations").counters()).isEmpty();
  }

  /** However often a turn comes to that end: only what is written changes what the watch tells. */
  @Test
  void anEndCountsOnceHoweverOftenItIsSeen() {
    ends(Map.of(), CheckpointPhase.READY);
    GpuCheckpoint ready = checkpoint(Map.of(), CheckpointPhase.READY, Reason.RESUMED);
    watched(ready, checkpoint(Map.of(), CheckpointPhase.READY, Reason.RESUMED));
    figures.observe(new Changed<>(Optional.empty(), Optional.of(ready)), cluster);
    figures.observe(new Changed<>(Optional.of(ready), Optional.empty()), cluster);

    assertThat(counted("GpuCheckpoint", "Ready")).isEqualTo(1);
    assertThat(registry.get("stasis_frozen_duration").timer().count()).isEqualTo(1);
  }

  @Test
  void aWorkloadThatEndsWhileItIsLeftFrozenIsLost() {
    GpuCheckpoint frozen = checkpoint(Map.of(), CheckpointPhase.FAILED, Reason.NOT_THAWED);
    watched(checkpoint(Map.of(), CheckpointPhase.SAVING, Reason.FROZEN), frozen);
    assertThat(registry.get("stasis_workloads_lost").counter().count()).isZero();

    GpuCheckpoint ended = checkpoint(Map.of(), CheckpointPhase.FAILED, Reason.WORKLOAD_LOST);
    watched(frozen, ended);
    watched(ended, ended);

    assertThat(registry.get("stasis_workloads_lost").counter().count()).isEqualTo(1);
    assertThat(counted("GpuCheckpoint", "Failed")).isEqualTo(1);
  }

  @Test
  void aWorkloadThatIsDeletedWithItsNamespaceIsNotLost() {
    cluster.namespace =
        new NamespaceBuilder()
            .withNewMetadata()
            .withName("ml")
            .withDeletionTimestamp("2026-11-26T20:00:00Z")
            .endMetadata()
            .build();
    watched(
        checkpoint(Map.of(), CheckpointPhase.FREEZING, Reason.FROZEN),
        checkpoint(Map.of(), CheckpointPhase.FAILED, Reason.WORKLOAD_LOST));

    assertThat(registry.get("stasis_workloads_lost").counter().count()).isZero();
  }

  @Test
  void aSuspensionAndADryRunAreCountedWithTheirOwnReasons() {
    endsWith(CheckpointPhase.SUSPENDED, "Suspended", Reason.SUSPENDED);
    endsWith(CheckpointPhase.EXPLAINED, "Feasible", Reason.FEASIBLE);

    assertThat(registry.find("stasis_operations").counters())
        .extracting(one -> one.getId().getTag("reason"))
        .containsExactlyInAnyOrder("Suspended", "Feasible");
  }

  private void endsWith(CheckpointPhase phase, String condition, Reason reason) {
    GpuCheckpoint ended = checkpoint(Map.of(), phase, Reason.FROZEN);
    ended
        .getStatus()
        .setConditions(
            List.of(
                new Condition(
                    condition, ConditionValue.TRUE, reason.value(), "", Instant.EPOCH, 1L)));
    watched(checkpoint(Map.of(), CheckpointPhase.SAVING, Reason.FROZEN), ended);
  }
}
