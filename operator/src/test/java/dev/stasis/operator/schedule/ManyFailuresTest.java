package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** More pods fail at once than the status has entries. */
class ManyFailuresTest {

  private static final int ENTRIES = 100;

  private final ScheduleFixture world =
      new ScheduleFixture(spec -> spec.setRestoreOnFailure(new RestoreOnFailure()));

  @Test
  void aPodThatHasNoEntryYetIsRestoredWhenAnotherRestoreHasEnded() {
    List<Pod> pods = run(ENTRIES + 1);
    world.now = world.now.plusSeconds(20);
    pods.forEach(pod -> world.restarted(pod, 137));
    world.settle();

    assertThat(world.cluster.restores).hasSize(ENTRIES);
    assertThat(world.look().atOnce()).isFalse();
    assertThat(world.status().getRestores())
        .hasSize(ENTRIES)
        .extracting(AutomaticRestore::phase)
        .containsOnly(RestorePhase.PENDING);

    succeed();
    world.settle();
    assertThat(world.cluster.restores).hasSize(ENTRIES + 1);
    assertThat(world.look().atOnce()).isFalse();
    assertThat(world.status().getRestores()).hasSize(ENTRIES);
    assertThat(world.restored().phase()).isEqualTo(RestorePhase.PENDING);
  }

  /** The watch still remembers the pods that the cluster removed. */
  @Test
  void aRestoreWhoseEntryMadePlaceForAnotherIsNotRepeated() {
    List<Pod> pods = run(ENTRIES + 1);
    pods.forEach(
        pod -> world.gone(ScheduleFixture.disrupted(pod, "DeletionByTaintManager", world.now)));
    world.settle();
    assertThat(world.cluster.restores).hasSize(ENTRIES);

    succeed();
    world.settle();
    succeed();
    world.settle();
    assertThat(world.look().atOnce()).isFalse();
    assertThat(world.cluster.restores).hasSize(ENTRIES + 1);
    assertThat(world.status().getRestores())
        .hasSize(ENTRIES)
        .extracting(AutomaticRestore::phase)
        .containsOnly(RestorePhase.SUCCEEDED);
  }

  private List<Pod> run(int count) {
    List<Pod> pods = IntStream.range(0, count).mapToObj(it -> world.pod("trainer-" + it)).toList();
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(world.names()).hasSize(count);
    return pods;
  }

  private void succeed() {
    List.copyOf(world.cluster.restores)
        .forEach(it -> world.ends(it.getMetadata().getName(), RestorePhase.SUCCEEDED));
  }
}
