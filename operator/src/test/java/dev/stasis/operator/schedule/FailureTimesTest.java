package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Times of freezes and of failures are known to the second, or not at all. */
class FailureTimesTest {

  private final ScheduleFixture world =
      new ScheduleFixture(
          spec -> {
            spec.setRestoreOnFailure(new RestoreOnFailure());
            spec.getOptions().setTimeZone("UTC");
          });

  @Test
  void aFreezeInTheSecondOfTheFailureCountsAsEarlier() {
    Pod pod = runs(1);
    world.now = world.frozen(0);
    world.restarted(pod, 137);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  @Test
  void ofTwoThatWereFrozenInOneSecondTheLaterOneIsTheNewest() {
    Pod pod = runs(2);
    world.frozenAt(0, world.frozen(1));
    world.failed(pod);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(1));
  }

  /** As a kubelet says it that was away itself. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aContainerOfWhichNobodyKnowsWhenItEndedIsBroughtBackAllTheSame(boolean restarted) {
    Pod pod = runs(1);
    world.now = world.now.plusSeconds(20);
    world.endedUnseen(pod, restarted);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  private Pod runs(int times) {
    Pod pod = world.pod("trainer");
    for (int run = 1; run <= times; run++) {
      world.at(ScheduleFixture.START.plusSeconds(60L * run)).settle();
    }
    assertThat(world.names()).hasSize(times);
    return pod;
  }
}
