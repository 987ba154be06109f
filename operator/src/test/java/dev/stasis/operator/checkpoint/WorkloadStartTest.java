package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How much work a checkpoint has is known. */
class WorkloadStartTest {

  private static final Instant CONTAINER = Instant.parse("2026-11-20T10:00:00Z");
  private static final Instant BEFORE = Instant.parse("2026-11-14T10:00:00Z");

  private final World world = Samples.world(AfterCheckpoint.RESUME);

  @Test
  void aWorkloadStartsWithItsContainer() {
    runs(null, 0);
    assertThat(saved().getWorkloadStartTime()).isEqualTo(CONTAINER);
  }

  @Test
  void aRestoreContinuesAnEarlierStart() {
    runs(BEFORE.toString(), 0);
    assertThat(saved().getWorkloadStartTime()).isEqualTo(BEFORE);
  }

  @Test
  void aStartThatAUserChangedIsIgnored() {
    runs("long ago", 0);
    assertThat(saved().getWorkloadStartTime()).isEqualTo(CONTAINER);
  }

  /** Without admission policies a user may write anything. The API server refuses such years. */
  @Test
  void aStartThatCannotBeInAFormerPodIsIgnored() {
    runs("-0001-01-01T00:00:00Z", 0);
    assertThat(saved().getWorkloadStartTime()).isEqualTo(CONTAINER);
  }

  @Test
  void aStartAfterThatOfTheContainerIsIgnored() {
    runs("+12026-11-28T00:00:00Z", 0);
    assertThat(saved().getWorkloadStartTime()).isEqualTo(CONTAINER);
  }

  @Test
  void aContainerThatRestartsBeginsAgain() {
    runs(BEFORE.toString(), 1);
    assertThat(saved().getWorkloadStartTime()).isEqualTo(CONTAINER);
  }

  @Test
  void aStartThatNoPodTellsAnyMoreIsUnknown() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.settle();
    assertThat(world.status().getWorkloadStartTime()).isNull();
  }

  private void runs(@Nullable String before, int restarts) {
    PodBuilder pod =
        new PodBuilder(world.pod())
            .editStatus()
            .addNewContainerStatus()
            .withName("main")
            .withRestartCount(restarts)
            .withNewState()
            .withNewRunning()
            .withStartedAt(CONTAINER.toString())
            .endRunning()
            .endState()
            .endContainerStatus()
            .endStatus();
    if (before != null) {
      pod.editMetadata().addToAnnotations(Api.WORKLOAD_START_ANNOTATION, before).endMetadata();
    }
    world.cluster.pods.removeIf(it -> it.getMetadata().getName().equals("trainer"));
    world.cluster.pods.add(pod.build());
  }

  private GpuCheckpointStatus saved() {
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).works("dump", WorkloadState.FROZEN);
    world.settle();
    Instant whileFrozen = world.status().getWorkloadStartTime();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.status().getWorkloadStartTime()).isEqualTo(whileFrozen);
    return world.status();
  }
}
