package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.api.v1beta1.schedule.Retention;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailureRecoveryTest {

  private final ScheduleFixture world = world(new RestoreOnFailure());

  private static ScheduleFixture world(RestoreOnFailure wish) {
    return new ScheduleFixture(
        spec -> {
          spec.setRestoreOnFailure(wish);
          spec.getOptions().setTimeZone("UTC");
        });
  }

  @Test
  void aFailedPodIsRestoredFromItsNewestCheckpointUnderItsName() {
    Pod pod = runs(3);
    world.failed(pod);
    world.settle();

    assertThat(world.writes.deletedPods).containsExactly("trainer");
    assertThat(world.cluster.restores).hasSize(1);
    AutomaticRestore back = world.restored();
    assertThat(back.checkpoint()).isEqualTo(world.names().get(2));
    assertThat(back.reason()).isEqualTo("PodFailed");
    assertThat(back.phase()).isEqualTo(RestorePhase.PENDING);
    assertThat(told()).contains("BringingBack");
    world.settle();
    assertThat(world.cluster.restores).hasSize(1);
  }

  @Test
  void aRestartedPodIsRestoredUnlessItWasCheckpointedSince() {
    Pod pod = runs(1);
    world.now = world.now.plusSeconds(20);
    world.restarted(pod, 137);
    world.settle();
    assertThat(world.restored().reason()).isEqualTo("ContainerRestarted");

    ScheduleFixture saved = world(new RestoreOnFailure());
    Pod cold = saved.pod("trainer");
    saved.restarted(cold, 1);
    saved.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(saved.names()).hasSize(1);
    assertThat(saved.status().getRestores()).isNull();
  }

  @Test
  void aContainerThatEndedWellAndWasStartedAgainIsNoFailure() {
    Pod pod = runs(1);
    world.now = world.now.plusSeconds(20);
    world.restarted(pod, 0);
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  @Test
  void aPodDeletedByItsUserIsNotRestored() {
    Pod pod = runs(1);
    Pod deleted =
        new PodBuilder(pod)
            .editMetadata()
            .withDeletionTimestamp(world.now.toString())
            .endMetadata()
            .build();
    world.replace(deleted);
    world.settle();
    world.gone(deleted);
    world.settle();

    assertThat(world.cluster.restores).isEmpty();
    assertThat(world.status().getRestores()).isNull();
  }

  @Test
  void aPodThatTheClusterRemovedIsRestoredOnceItsNodeCannotRunIt() {
    Pod pod = runs(1);
    world.node("node1", false);
    Pod lost = ScheduleFixture.disrupted(pod, "DeletionByTaintManager", world.now);
    world.replace(lost);
    world.shared(0);
    world.settle();
    world.gone(lost);
    world.settle();
    assertThat(world.cluster.restores).isEmpty();
    assertThat(world.ready().message()).contains("a copy may still run there");

    world.cluster.nodes.clear();
    world.settle();
    assertThat(world.cluster.restores).hasSize(1);
  }

  @Test
  void anEvictionOfStasisItselfIsNoFailure() {
    Pod pod = runs(1);
    var evict = world.cluster.checkpoints.get(0);
    evict.getSpec().setAfterCheckpoint(dev.stasis.api.v1beta1.common.AfterCheckpoint.EVICT);
    world.replace(ScheduleFixture.disrupted(pod, "EvictionByEvictionAPI", world.now));
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ArtifactRefused", "RegionMove", "LayerFailed"})
  void theDamagedNewestIsSkippedWithAnEvent(String fault) {
    Pod pod = runs(2);
    world.failed(pod);
    world.settle();
    String newest = world.restored().checkpoint();
    world.ends(world.restored().restore(), RestorePhase.FAILED, fault);
    // The schedule itself had removed it.
    world.gone(
        new PodBuilder(failedState(pod))
            .editMetadata()
            .withDeletionTimestamp("2026-11-22T02:59:11Z")
            .endMetadata()
            .build());
    world.settle();

    assertThat(world.cluster.restores).hasSize(2);
    assertThat(world.restored().checkpoint()).isNotEqualTo(newest);
    assertThat(world.restored().reason()).isEqualTo("PodFailed");
    assertThat(world.restored().skipped()).containsExactly(newest + ": damaged");
    assertThat(told()).contains("CheckpointSkipped");
  }

  @Test
  void theDamagedNewestIsSkippedByAnOperatorThatNeverSawThePod() {
    world.failed(runs(2));
    world.settle();
    String newest = world.restored().checkpoint();
    world.ends(world.restored().restore(), RestorePhase.FAILED, "RegionMove");
    world.settle();

    assertThat(world.cluster.restores).hasSize(2);
    assertThat(world.restored().skipped()).containsExactly(newest + ": damaged");
  }

  @Test
  void theTargetOfTheDamagedOneIsWaitedFor() {
    world.failed(runs(2));
    world.settle();
    Pod target = world.pod("trainer", "uid-target");
    target.getMetadata().setDeletionTimestamp("2026-11-22T02:59:17Z");
    world.ends(world.restored().restore(), RestorePhase.FAILED, "RegionMove");
    world.settle();
    assertThat(world.cluster.restores).hasSize(1);
    assertThat(world.restored().phase()).isNull();

    world.cluster.pods.remove(target);
    world.settle();
    assertThat(world.cluster.restores).hasSize(2);
  }

  @Test
  void aLostArtifactOfALostNodeIsNoCandidate() {
    Pod pod = runs(2);
    world.shared(0);
    world.node("node1", false);
    world.failed(pod);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
    assertThat(world.status().getNewestGood()).isEqualTo(world.names().get(0));
    assertThat(Objects.requireNonNull(world.restored().skipped()).get(0))
        .contains("it is on the disk of node node1");
  }

  @Test
  void oneThatIsBoundToItsPodOrDamagedIsNoCandidateAndDoesNotCountAsGood() {
    Pod pod = runs(3);
    CheckpointStatuses.damage(world.cluster.checkpoints.get(2));
    Objects.requireNonNull(
            Objects.requireNonNull(world.cluster.checkpoints.get(1).getStatus()).getArtifact())
        .setNotPortable(
            List.of(Fault.misfit("NotPortable", Fault.SOCKET_ADDRESS, "any", "10.1.2.3")));
    world.settle();
    assertThat(world.status().getNewestGood()).isEqualTo(world.names().get(0));
    world.failed(pod);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
    assertThat(world.restored().skipped())
        .containsExactly(
            world.names().get(2) + ": damaged", world.names().get(1) + ": NotPortable");
  }

  @Test
  void theNumberOfRestoresIsLimited() {
    RestoreOnFailure wish = new RestoreOnFailure();
    wish.setMaxRestores(2);
    wish.setWindow(TimeSpan.of("1h"));
    ScheduleFixture world = world(wish);
    Pod pod = world.pod("trainer", "uid-0");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    for (int time = 1; time <= 3; time++) {
      world.schedule.getSpec().setSuspend(true);
      world.at(ScheduleFixture.START.plusSeconds(60 + time * 60L));
      world.failed(pod);
      world.settle();
      world.cluster.restores.forEach(
          it -> world.ends(it.getMetadata().getName(), RestorePhase.SUCCEEDED));
      pod =
          new PodBuilder(world.pod("trainer", "uid-" + time))
              .editMetadata()
              .withCreationTimestamp(world.now.toString())
              .addToAnnotations(Api.FORMER_PODS_ANNOTATION, "uid-0@" + world.frozen(0))
              .endMetadata()
              .build();
      world.replace(pod);
      world.settle();
    }

    assertThat(world.cluster.restores).hasSize(2);
    assertThat(world.stories)
        .extracting(it -> it.message())
        .anyMatch(it -> it.contains("limit of 2 restores in 1h reached"));
    world.at(ScheduleFixture.START.plusSeconds(2 * 3600));
    world.failed(pod);
    world.settle();
    assertThat(world.cluster.restores).hasSize(3);
  }

  @Test
  void anotherWorkloadOfThatNameIsNotMixedUpWithIt() {
    runs(1);
    Pod another = world.pod("trainer", "another-uid");
    world.failed(another);
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  @Test
  void aSilentNodeIsGivenUpOnlyAfterFenceAfter() {
    RestoreOnFailure wish = new RestoreOnFailure();
    wish.setFenceAfter(TimeSpan.of("10m"));
    ScheduleFixture world = world(wish);
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    world.shared(0);
    world.schedule.getSpec().setSuspend(true);
    Instant away = ScheduleFixture.START.plusSeconds(100);
    world.at(away);
    world.node("node1", false);
    world.at(away.plusSeconds(599)).settle();
    assertThat(world.writes.deletedPods).isEmpty();

    world.at(away.plusSeconds(600)).settle();
    assertThat(world.writes.deletedPods).containsExactly("trainer by force");
    assertThat(world.cluster.restores).hasSize(1);
  }

  @Test
  void aPodIsLeftToItsControllerWithAnEvent() {
    Pod pod = runs(1);
    world.failed(owned(pod, "ReplicaSet"));
    world.settle();

    assertThat(world.writes.deletedPods).isEmpty();
    assertThat(told()).contains("NotBroughtBack");
  }

  @Test
  void aControllersPodGoesOnlyOnceTheNextOneIsTheTarget() {
    Pod pod = runs(1);
    world.now = world.now.plusSeconds(20);
    world.ownerStarts = "Job train would still start another pod";
    world.restarted(owned(pod, "Job"), 137);
    world.settle();
    assertThat(world.cluster.restores).hasSize(1);
    assertThat(world.writes.deletedPods).isEmpty();

    world.ownerStarts = null;
    world.settle();
    assertThat(world.writes.deletedPods).containsExactly("trainer");
    assertThat(world.cluster.restores).hasSize(1);
  }

  private static Pod owned(Pod pod, String kind) {
    return new PodBuilder(pod)
        .editMetadata()
        .addNewOwnerReference()
        .withKind(kind)
        .withName("web")
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .build();
  }

  @Test
  void retentionTakesNothingThatARestoreNeeds() {
    world.schedule.getSpec().setCheckpoint(ScheduleFixture.keeping(new Retention(1, null, null)));
    Pod pod = runs(1);
    world.failed(pod);
    world.settle();
    String used = world.restored().checkpoint();
    world.pod("trainer", "new-uid");
    world.at(ScheduleFixture.START.plusSeconds(600)).settle();
    world.at(ScheduleFixture.START.plusSeconds(660)).settle();

    assertThat(world.names()).contains(used);
  }

  private Pod runs(int times) {
    Pod pod = world.pod("trainer");
    world.outcome = CheckpointPhase.READY;
    for (int run = 1; run <= times; run++) {
      world.at(ScheduleFixture.START.plusSeconds(60L * run)).settle();
    }
    assertThat(world.names()).hasSize(times);
    return pod;
  }

  private static Pod failedState(Pod pod) {
    return new PodBuilder(pod).editStatus().withPhase("Failed").endStatus().build();
  }

  private Set<String> told() {
    return world.stories.stream().map(it -> it.reason().value()).collect(Collectors.toSet());
  }
}
