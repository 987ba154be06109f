package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.schedule.ConcurrencyPolicy;
import dev.stasis.api.v1alpha1.schedule.Retention;
import dev.stasis.api.v1alpha1.schedule.ScheduledRun;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RunsTest {

  @Test
  void fiftyRunsUnderRetentionKeepExactlyWhatTheyShould() {
    World world = new World(spec -> spec.setRetention(new Retention(3, null, null)));
    world.pod("trainer");
    world.pod("other");
    for (int minute = 1; minute <= 50; minute++) {
      world.at(World.START.plusSeconds(60L * minute)).settle();
    }

    assertThat(world.cluster.checkpoints).hasSize(6);
    assertThat(world.cluster.checkpoints)
        .extracting(it -> new Taken(it).due())
        .containsOnly(
            World.START.plusSeconds(48 * 60),
            World.START.plusSeconds(49 * 60),
            World.START.plusSeconds(50 * 60));
    assertThat(world.status().getKept()).isEqualTo(6);
    assertThat(world.status().getKeptBytes()).isEqualTo(600L);
    assertThat(world.status().getHistory()).hasSize(10);
    assertThat(world.status().getLastScheduleTime()).isEqualTo(World.START.plusSeconds(3000));
    assertThat(world.status().getNextScheduleTime()).isEqualTo(World.START.plusSeconds(3060));
    assertThat(world.status().getLastSuccessfulTime()).isEqualTo(World.START.plusSeconds(3002));
  }

  @Test
  void nothingIsDueBeforeTheScheduleAndThePodWereThere() {
    World world = new World(spec -> spec.setSchedule("@hourly"));
    world.at(World.START.plusSeconds(90));
    world.pod("young");
    world.settle();
    assertThat(world.names()).isEmpty();

    world.at(World.START.plusSeconds(3600)).settle();
    world.pod("younger");
    world.at(World.START.plusSeconds(3700)).settle();
    assertThat(world.names()).hasSize(1);
  }

  @Test
  void ofSeveralMissedRunsOnlyTheLastIsMadeUpFor() {
    World world = new World(spec -> {});
    world.pod("trainer");
    world.at(World.START.plusSeconds(60)).settle();
    world.at(World.START.plusSeconds(600 + 59)).settle();

    assertThat(world.names()).hasSize(2);
    assertThat(new Taken(world.cluster.checkpoints.get(1)).due())
        .isEqualTo(World.START.plusSeconds(600));
  }

  @Test
  void aRunThatIsDeletedIsNotBegunAgain() {
    World world = new World(spec -> {});
    world.pod("trainer");
    world.at(World.START.plusSeconds(60)).settle();
    world.cluster.checkpoints.clear();
    world.at(World.START.plusSeconds(70)).settle();

    assertThat(world.names()).isEmpty();
  }

  @Test
  void aRunStillAtWorkIsWaitedForReplacedOrLeftAlone() {
    for (ConcurrencyPolicy policy : ConcurrencyPolicy.values()) {
      World world = new World(spec -> spec.setConcurrencyPolicy(policy));
      world.outcome = CheckpointPhase.SAVING;
      world.pod("trainer");
      world.at(World.START.plusSeconds(60)).settle();
      assertThat(world.status().getActive()).hasSize(1);
      world.at(World.START.plusSeconds(120)).settle();

      boolean cancelled = world.cluster.checkpoints.get(0).getSpec().getCancel();
      assertThat(cancelled).isEqualTo(policy == ConcurrencyPolicy.REPLACE);
      assertThat(world.names()).hasSize(policy == ConcurrencyPolicy.FORBID ? 1 : 2);
      ScheduledRun newest = Objects.requireNonNull(world.status().getHistory()).get(0);
      assertThat(newest.checkpoint() == null).isEqualTo(policy == ConcurrencyPolicy.FORBID);
    }
  }

  @Test
  void aRunThatIsTooLateIsSkippedAndSaysSo() {
    World world = new World(spec -> spec.setStartingDeadlineSeconds(10L));
    world.pod("trainer");
    world.at(World.START.plusSeconds(71)).settle();

    assertThat(world.names()).isEmpty();
    assertThat(world.stories).extracting(it -> it.reason().word()).contains("RunSkipped");
    world.at(World.START.plusSeconds(121)).settle();
    assertThat(world.names()).hasSize(1);
  }

  @Test
  void jitterSpreadsPodsAndLosesNoneOfThem() {
    World world =
        new World(
            spec -> {
              spec.setSchedule("@hourly");
              spec.setJitter(TimeSpan.of("10m"));
            });
    for (int pod = 0; pod < 10; pod++) {
      world.pod("pod-" + pod);
    }
    world.at(World.START.plusSeconds(3600 + 240)).look();
    int early = world.names().size();
    assertThat(early).isBetween(1, 9);
    assertThat(world.look().next().orElseThrow()).isBefore(World.START.plusSeconds(3600 + 600));
    world.at(World.START.plusSeconds(3600 + 600)).settle();
    assertThat(world.names()).hasSize(10).doesNotHaveDuplicates();
  }

  @Test
  void aPausedScheduleBeginsNothing() {
    World world = new World(spec -> spec.setSuspend(true));
    world.pod("trainer");
    world.at(World.START.plusSeconds(60)).settle();

    assertThat(world.names()).isEmpty();
    assertThat(world.ready().reason()).isEqualTo("NotScheduled");
    assertThat(world.status().getNextScheduleTime()).isNull();
  }

  @Test
  void badInputIsOneSentence() {
    World cron = new World(spec -> spec.setSchedule("0 25 * * *"));
    cron.settle();
    assertThat(cron.ready().status()).isEqualTo(Truth.FALSE);
    assertThat(cron.ready().message()).startsWith("schedule: wanted minute, hour,");
    World zone = new World(spec -> spec.setTimeZone("Europe/Nowhere"));
    zone.settle();
    assertThat(zone.ready().message()).endsWith("found Europe/Nowhere");
    World never = new World(spec -> spec.setSchedule("0 0 30 2 *"));
    never.settle();
    assertThat(never.ready().message())
        .isEqualTo("schedule: wanted a time that comes, found \"0 0 30 2 *\"");
    World empty = new World(spec -> spec.getSelector().setMatchLabels(java.util.Map.of("a", "b")));
    empty.pod("trainer");
    empty.settle();
    assertThat(empty.ready().status()).isEqualTo(Truth.UNKNOWN);
    assertThat(empty.ready().message())
        .isEqualTo("selector: wanted pods with GPUs in namespace ml, found none among its 1 pods");
  }
}
