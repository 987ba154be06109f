package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.api.v1beta1.schedule.Retention;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A quota or a policy refuses what a schedule creates. */
class RefusedRequestTest {

  private final ScheduleFixture world =
      new ScheduleFixture(spec -> spec.setRestoreOnFailure(new RestoreOnFailure()));

  @Test
  void aRefusedRunStartsOnceRetentionHasMadeRoomInTheQuota() {
    world.pod("trainer");
    for (int minute = 1; minute <= 3; minute++) {
      world.at(minute(minute)).settle();
    }
    String oldest = world.names().get(0);
    keepTwo();
    world.writes.refused = request -> request instanceof GpuCheckpoint && world.names().size() >= 3;

    ScheduleWorkflow.Requeue requeue = world.at(minute(4)).look();
    assertThat(world.names()).hasSize(2).doesNotContain(oldest);
    assertThat(world.ready().status()).isEqualTo(ConditionValue.FALSE);
    assertThat(world.ready().reason()).isEqualTo("CheckpointRefused");
    assertThat(world.ready().message())
        .isEqualTo(
            "run of pod trainer, due at 2026-11-21T10:04:00Z, is refused and repeated: exceeded"
                + " quota: stasis");
    assertThat(requeue.next()).contains(minute(4).plusSeconds(15));
    assertThat(world.status().getSettledScheduleTime()).isEqualTo(minute(3));

    world.look();
    assertThat(world.names()).hasSize(3);
    assertThat(world.ready().reason()).isEqualTo("Scheduled");
    assertThat(world.status().getSettledScheduleTime()).isEqualTo(minute(4));
  }

  @Test
  void aRefusedRunStopsNeitherOtherRunsNorTheRestoreOfAFailedPod() {
    world.pod("a-refused");
    Pod failing = world.pod("b-failing");
    world.pod("c-other");
    world.at(minute(1)).settle();
    world.failed(failing);
    world.writes.refused = request -> isRunOf("a-refused", request);
    world.at(minute(2)).settle();

    assertThat(world.writes.checkpointed)
        .containsExactly("a-refused", "b-failing", "c-other", "c-other");
    assertThat(world.cluster.restores).hasSize(1);
    assertThat(world.restored().pod()).isEqualTo("b-failing");
    assertThat(world.stories)
        .extracting(it -> it.reason().value())
        .contains("CheckpointRefused", "RunBegun", "BringingBack");
  }

  @Test
  void aPodThatIsAlwaysRefusedDoesNotKeepTheOldCheckpointsOfOthers() {
    keepTwo();
    world.pod("a-refused");
    world.pod("trainer");
    world.writes.refused = request -> isRunOf("a-refused", request);
    for (int minute = 1; minute <= 10; minute++) {
      world.at(minute(minute)).settle();
    }

    assertThat(world.cluster.checkpoints)
        .extracting(it -> new ScheduledCheckpoint(it).due())
        .containsExactly(minute(9), minute(10));
    assertThat(world.status().getSettledScheduleTime()).isEqualTo(minute(9));
  }

  @Test
  void aRefusedRestoreIsRepeatedAndDoesNotStopOthers() {
    Pod first = world.pod("a");
    Pod second = world.pod("b");
    world.at(minute(1)).settle();
    world.failed(first);
    world.failed(second);
    world.writes.refused =
        request ->
            request instanceof GpuRestore restore
                && "a".equals(Objects.requireNonNull(restore.getSpec().getTarget()).podName());
    world.settle();
    assertThat(world.cluster.restores).hasSize(1);
    assertThat(world.ready().reason()).isEqualTo("BringingBack");
    assertThat(world.ready().message())
        .startsWith("pod a waits: GpuRestore often-")
        .endsWith(" is refused: exceeded quota: stasis");

    world.writes.refused = request -> false;
    world.settle();
    assertThat(world.cluster.restores).hasSize(2);
    assertThat(world.status().getRestores())
        .extracting(AutomaticRestore::phase)
        .containsExactly(RestorePhase.PENDING, RestorePhase.PENDING);
  }

  private void keepTwo() {
    world.schedule.getSpec().setCheckpoint(ScheduleFixture.keeping(new Retention(2, null, null)));
  }

  private static boolean isRunOf(String pod, HasMetadata request) {
    return request instanceof GpuCheckpoint checkpoint
        && pod.equals(checkpoint.getSpec().podName());
  }

  private static Instant minute(int minute) {
    return ScheduleFixture.START.plusSeconds(60L * minute);
  }
}
