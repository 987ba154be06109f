package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.schedule.ConcurrencyPolicy;
import dev.stasis.api.v1beta1.schedule.Retention;
import dev.stasis.api.v1beta1.schedule.ScheduledRun;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RunPlannerTest {

  @Test
  void fiftyRunsUnderRetentionKeepExactlyWhatTheyShould() {
    ScheduleFixture world =
        new ScheduleFixture(
            spec -> spec.setCheckpoint(ScheduleFixture.keeping(new Retention(3, null, null))));
    world.pod("trainer");
    world.pod("other");
    for (int minute = 1; minute <= 50; minute++) {
      world.at(ScheduleFixture.START.plusSeconds(60L * minute)).settle();
    }

    assertThat(world.cluster.checkpoints).hasSize(6);
    assertThat(world.cluster.checkpoints)
        .extracting(it -> new ScheduledCheckpoint(it).due())
        .containsOnly(
            ScheduleFixture.START.plusSeconds(48 * 60),
            ScheduleFixture.START.plusSeconds(49 * 60),
            ScheduleFixture.START.plusSeconds(50 * 60));
    assertThat(world.status().getKept()).isEqualTo(6);
    assertThat(world.status().getKeptBytes()).isEqualTo(600L);
    assertThat(world.status().getHistory()).hasSize(10);
    assertThat(world.status().getLastScheduleTime())
        .isEqualTo(ScheduleFixture.START.plusSeconds(3000));
    assertThat(world.status().getNextScheduleTime())
        .isEqualTo(ScheduleFixture.START.plusSeconds(3060));
    assertThat(world.status().getLastSuccessfulTime())
        .isEqualTo(ScheduleFixture.START.plusSeconds(3002));
  }

  @Test
  void retentionCountsOnlyWhatIsWhereItsStorePromisesToHaveIt() {
    ScheduleFixture world =
        new ScheduleFixture(
            spec -> spec.setCheckpoint(ScheduleFixture.keeping(new Retention(2, null, null))));
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    ArtifactStatus uploading =
        Objects.requireNonNull(world.cluster.checkpoints.get(1).getStatus().getArtifact());
    uploading.setDurability(StoreDurability.REMOTE);
    uploading.setNode("n");

    world.at(ScheduleFixture.START.plusSeconds(180)).settle();
    assertThat(world.cluster.checkpoints).as("one of them is only on its node").hasSize(3);

    uploading.setNode(null);
    world.settle();
    assertThat(world.cluster.checkpoints).hasSize(2);
  }

  @Test
  void retentionKeepsTheLastGoodOneHoweverManyDamagedOnesAreNewer() {
    ScheduleFixture world =
        new ScheduleFixture(
            spec -> spec.setCheckpoint(ScheduleFixture.keeping(new Retention(2, null, null))));
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    String good = world.names().get(0);
    for (int minute = 2; minute <= 4; minute++) {
      world.at(ScheduleFixture.START.plusSeconds(60L * minute)).settle();
      CheckpointStatuses.damage(world.cluster.checkpoints.get(minute - 1));
    }
    world.settle();

    assertThat(world.names()).hasSize(4).contains(good);
    assertThat(world.status().getNewestGood()).isEqualTo(good);

    world.at(ScheduleFixture.START.plusSeconds(60L * 5)).settle();
    world.at(ScheduleFixture.START.plusSeconds(60L * 6)).settle();
    assertThat(world.names()).as("two good ones are newer").hasSize(2).doesNotContain(good);
  }

  @Test
  void nothingIsDueBeforeTheScheduleAndThePodWereThere() {
    ScheduleFixture world = new ScheduleFixture(spec -> spec.setSchedule("@hourly"));
    world.at(ScheduleFixture.START.plusSeconds(90));
    world.pod("young");
    world.settle();
    assertThat(world.names()).isEmpty();

    world.at(ScheduleFixture.START.plusSeconds(3600)).settle();
    world.pod("younger");
    world.at(ScheduleFixture.START.plusSeconds(3700)).settle();
    assertThat(world.names()).hasSize(1);
  }

  @Test
  void ofSeveralMissedRunsOnlyTheLastIsMadeUpFor() {
    ScheduleFixture world = new ScheduleFixture(spec -> {});
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    world.at(ScheduleFixture.START.plusSeconds(600 + 59)).settle();

    assertThat(world.names()).hasSize(2);
    assertThat(new ScheduledCheckpoint(world.cluster.checkpoints.get(1)).due())
        .isEqualTo(ScheduleFixture.START.plusSeconds(600));
  }

  @Test
  void aRunThatIsDeletedIsNotBegunAgain() {
    ScheduleFixture world = new ScheduleFixture(spec -> {});
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    world.cluster.checkpoints.clear();
    world.at(ScheduleFixture.START.plusSeconds(70)).settle();

    assertThat(world.names()).isEmpty();
  }

  @Test
  void aRunStillAtWorkIsWaitedForReplacedOrLeftAlone() {
    for (ConcurrencyPolicy policy : ConcurrencyPolicy.values()) {
      ScheduleFixture world =
          new ScheduleFixture(spec -> spec.getOptions().setConcurrencyPolicy(policy));
      world.outcome = CheckpointPhase.SAVING;
      world.pod("trainer");
      world.at(ScheduleFixture.START.plusSeconds(60)).settle();
      assertThat(world.status().getActive()).hasSize(1);
      world.at(ScheduleFixture.START.plusSeconds(120)).settle();

      boolean cancelled = world.cluster.checkpoints.get(0).getSpec().getOptions().getCancel();
      assertThat(cancelled).isEqualTo(policy == ConcurrencyPolicy.REPLACE);
      assertThat(world.names()).hasSize(policy == ConcurrencyPolicy.FORBID ? 1 : 2);
      ScheduledRun newest = Objects.requireNonNull(world.status().getHistory()).get(0);
      assertThat(newest.checkpoint() == null).isEqualTo(policy == ConcurrencyPolicy.FORBID);
    }
  }

  @Test
  void aLateRunIsSkippedAndReported() {
    ScheduleFixture world =
        new ScheduleFixture(spec -> spec.getOptions().setStartingDeadlineSeconds(10L));
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(71)).settle();

    assertThat(world.names()).isEmpty();
    assertThat(world.stories).extracting(it -> it.reason().value()).contains("RunSkipped");
    world.at(ScheduleFixture.START.plusSeconds(121)).settle();
    assertThat(world.names()).hasSize(1);
  }

  @Test
  void jitterSpreadsPodsAndLosesNoneOfThem() {
    ScheduleFixture world =
        new ScheduleFixture(
            spec -> {
              spec.setSchedule("@hourly");
              spec.getOptions().setJitter(TimeSpan.of("10m"));
            });
    for (int pod = 0; pod < 10; pod++) {
      world.pod("pod-" + pod);
    }
    world.at(ScheduleFixture.START.plusSeconds(3600 + 240)).look();
    int early = world.names().size();
    assertThat(early).isBetween(1, 9);
    assertThat(world.look().next().orElseThrow())
        .isBefore(ScheduleFixture.START.plusSeconds(3600 + 600));
    world.at(ScheduleFixture.START.plusSeconds(3600 + 600)).settle();
    assertThat(world.names()).hasSize(10).doesNotHaveDuplicates();
  }

  @Test
  void aPausedScheduleBeginsNothing() {
    ScheduleFixture world = new ScheduleFixture(spec -> spec.setSuspend(true));
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();

    assertThat(world.names()).isEmpty();
    assertThat(world.status().getReason()).isEqualTo("Paused");
    assertThat(world.status().getNextScheduleTime()).isNull();
  }

  @Test
  void badInputIsOneSentence() {
    ScheduleFixture cron = new ScheduleFixture(spec -> spec.setSchedule("0 25 * * *"));
    cron.settle();
    assertThat(cron.ready().status()).isEqualTo(ConditionValue.FALSE);
    assertThat(cron.ready().message()).startsWith("schedule: expected minute, hour,");
    ScheduleFixture zone =
        new ScheduleFixture(spec -> spec.getOptions().setTimeZone("Europe/Nowhere"));
    zone.settle();
    assertThat(zone.ready().message()).endsWith("got Europe/Nowhere");
    ScheduleFixture never = new ScheduleFixture(spec -> spec.setSchedule("0 0 30 2 *"));
    never.settle();
    assertThat(never.ready().message())
        .isEqualTo("schedule: expected a date that exists, got \"0 0 30 2 *\"");
    ScheduleFixture empty =
        new ScheduleFixture(spec -> spec.getSelector().setMatchLabels(java.util.Map.of("a", "b")));
    empty.pod("trainer");
    empty.settle();
    assertThat(empty.status().getMessage())
        .isEqualTo("selector: expected pods with GPUs in namespace ml, got none among its 1 pods");
  }

  @Test
  void aCheckpointOfAnotherNamespaceIsNotOfTheScheduleWhateverItsLabelsAre() {
    ScheduleFixture world = new ScheduleFixture(spec -> spec.setSchedule("@hourly"));
    GpuCheckpoint foreign = new GpuCheckpoint();
    foreign.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace("other")
            .withName("foreign")
            .withCreationTimestamp(world.now.toString())
            .addToLabels(Api.OPERATION_UID_LABEL, "sched-uid")
            .build());
    foreign.setSpec(new GpuCheckpointSpec());
    foreign.getSpec().setPodRef(PodReference.of("trainer"));
    world.cluster.checkpoints.add(foreign);

    world.look();

    assertThat(world.status().getActive()).isNull();
  }
}
