package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.operator.event.Story;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A workload keeps its checkpoints when it moves to another pod. */
class LineageTest {

  private final ScheduleFixture world =
      new ScheduleFixture(
          spec -> {
            spec.setRestoreOnFailure(new RestoreOnFailure());
            spec.getOptions().setTimeZone("UTC");
          });

  /** Twice, and no run was due since. The objects that moved it are deleted. */
  @Test
  void aPodThatFailsAfterAMigrationAndAPreemptionIsRestored() {
    Pod first = checkpointed();
    world.gone(first);
    Pod moved = restored("trainer-x2k9q", "preemption-1a2b3c4d", "second-uid,trainer-uid");
    world.failed(moved);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
    assertThat(world.restored().pod()).isEqualTo("trainer-x2k9q");
  }

  @Test
  void aPodOfAnotherWorkloadIsNotRestored() {
    Pod first = checkpointed();
    world.gone(first);
    world.failed(restored("other", "preemption-1a2b3c4d", "other-uid"));
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  /** The source has a newer checkpoint, and runs on. */
  @Test
  void aCopyIsRestoredFromTheStateThatWasCopied() {
    checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    assertThat(world.names()).hasSize(2);
    world.failed(restored("copy", world.names().get(0), "trainer-uid@" + world.frozen(0)));
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  /** The migration leaves the name of the GpuMigration instead of the checkpoint's. */
  @Test
  void aCopyThatWasMigratedIsRestoredFromTheStateThatWasCopied() {
    checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    List<String> names = world.names();
    assertThat(names).hasSize(2);
    world.now = world.now.plusSeconds(10);
    world.failed(restored("copy-x2k9q", "move", "copy-uid,trainer-uid@" + world.frozen(0)));
    world.settle();

    assertThat(world.restored().pod()).isEqualTo("copy-x2k9q");
    assertThat(world.restored().checkpoint()).isEqualTo(names.get(0));
  }

  /** Another workload's checkpoint may have the name of a GpuMigration. */
  @Test
  void aMigratedPodIsNotRestoredFromACheckpointThatIsNamedLikeItsMigration() {
    checkpointed();
    world.failed(restored("other-x2k9q", world.names().get(0), "other-uid"));
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  /** The first artifact of the copy is damaged, and its pod is gone. */
  @Test
  void aDamagedCheckpointOfAMigratedCopyIsFollowedByTheStateThatWasCopied() {
    checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    List<String> names = world.names();
    Pod copy = restored("copy-x2k9q", "move", "copy-uid,trainer-uid@" + world.frozen(0));
    world.at(ScheduleFixture.START.plusSeconds(180)).settle();
    world.failed(copy);
    world.settle();
    AutomaticRestore first = world.restored();
    assertThat(names).doesNotContain(first.checkpoint());
    world.ends(first.restore(), RestorePhase.FAILED, "ArtifactDamaged");
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(names.get(0));
  }

  /** The checkpoint that was copied is deleted. */
  @Test
  void aRestartedCopyIsRestoredAlthoughItsSourceHasBeenCheckpointedSince() {
    checkpointed();
    Pod copy = restored("copy", "deleted", "trainer-uid@" + world.frozen(0));
    world.writes.refused = request -> isRunOf(request, "copy");
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    assertThat(world.names()).hasSize(2);
    world.now = ScheduleFixture.START.plusSeconds(90);
    world.restarted(copy, 137);
    world.at(ScheduleFixture.START.plusSeconds(130)).settle();

    assertThat(world.restored().pod()).isEqualTo("copy");
    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  /** The pod was left, for example because the node of its own checkpoint did not respond. */
  @Test
  void aPodThatItsUserRestoredFromALaterStateIsNotRestoredASecondTime() {
    checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    assertThat(world.names()).hasSize(2);
    world.failed(restored("trainer-x2k9q", world.names().get(0), "trainer-uid@" + world.frozen(0)));
    restoredByUser(world.names().get(1));
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  /** The restore of the source, from its later state, does not restore the copy. */
  @Test
  void aFailedCopyIsRestoredAlthoughItsSourceHasBeenRestoredSince() {
    Pod source = checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    List<String> names = world.names();
    assertThat(names).hasSize(2);
    Pod copy = restored("copy", names.get(0), "trainer-uid@" + world.frozen(0));
    world.writes.refused = request -> isRunOf(request, "copy");
    world.failed(source);
    world.at(ScheduleFixture.START.plusSeconds(130)).settle();
    assertThat(world.restored().pod()).isEqualTo("trainer");
    assertThat(world.restored().checkpoint()).isEqualTo(names.get(1));
    world.ends(world.restored().restore(), RestorePhase.SUCCEEDED);
    // The kubelet does not report when.
    world.failed(copy);
    world.at(ScheduleFixture.START.plusSeconds(140)).settle();

    assertThat(world.restored().pod()).isEqualTo("copy");
    assertThat(world.restored().checkpoint()).isEqualTo(names.get(0));
  }

  /** Their node was lost, but the kubelet reports one of them later. */
  @Test
  void bothCopiesOfOneStateAreRestored() {
    checkpointed();
    String name = world.names().get(0);
    world.writes.refused = request -> request instanceof GpuCheckpoint;
    Pod one = restored("one", name, "trainer-uid@" + world.frozen(0));
    Pod other = restored("other", name, "trainer-uid@" + world.frozen(0));
    world.failed(one);
    world.at(ScheduleFixture.START.plusSeconds(130)).settle();
    assertThat(world.restored().pod()).isEqualTo("one");
    world.failed(other);
    world.at(ScheduleFixture.START.plusSeconds(140)).settle();
    assertThat(world.restored().pod()).isEqualTo("other");
    assertThat(world.restored().checkpoint()).isEqualTo(name);
  }

  /** The restore of the copy was requested after the source failed, from its own checkpoint. */
  @Test
  void aFailedSourceIsRestoredAlthoughItsCopyHasBeenRestoredSince() {
    Pod source = checkpointed();
    String name = world.names().get(0);
    world.writes.refused = request -> request instanceof GpuCheckpoint;
    Pod copy = restored("copy", name, "trainer-uid@" + world.frozen(0));
    world.failed(copy);
    world.at(ScheduleFixture.START.plusSeconds(130)).settle();
    assertThat(world.restored().pod()).isEqualTo("copy");
    world.ends(world.restored().restore(), RestorePhase.SUCCEEDED);
    // The kubelet does not report when.
    world.failed(source);
    world.at(ScheduleFixture.START.plusSeconds(140)).settle();

    assertThat(world.restored().pod()).isEqualTo("trainer");
    assertThat(world.restored().checkpoint()).isEqualTo(name);
  }

  /** The user has restored one of them: which one, nothing shows. */
  @Test
  void anEventReportsACopyThatIsLeftBecauseItsUserRestoredTheSameState() {
    checkpointed();
    world.writes.refused = request -> request instanceof GpuCheckpoint;
    world.failed(restored("copy", world.names().get(0), "trainer-uid@" + world.frozen(0)));
    restoredByUser(world.names().get(0));
    world.settle();

    assertThat(world.status().getRestores()).isNull();
    assertThat(world.stories)
        .extracting(Story::message)
        .anyMatch(it -> it.contains("is not restored") && it.contains("GpuRestore manual"));
  }

  /** An operator that was restarted since has not seen the pod. */
  @Test
  void aCopyThatMayStillRunOnItsOwnNodeIsNotRestored() {
    checkpointed();
    world.node("node2", true);
    Pod copy =
        new PodBuilder(restored("copy", world.names().get(0), "trainer-uid@" + world.frozen(0)))
            .editSpec()
            .withNodeName("node2")
            .endSpec()
            .build();
    world.node("node2", false);
    world.replace(ScheduleFixture.disrupted(copy, "DeletionByTaintManager", world.now));
    world.look();
    assertThat(world.restored().phase()).isNull();
    world.cluster.pods.removeIf(pod -> pod.getMetadata().getName().equals("copy"));
    world.settle();

    assertThat(world.cluster.restores).isEmpty();
    assertThat(world.ready().message()).contains("node node2: expected Ready");
    world.node("node2", true);
    world.at(world.now.plusSeconds(120)).settle();
    assertThat(world.cluster.restores).hasSize(1);
  }

  /** The API server drops the field of a decision if the CRD does not have it yet. */
  @Test
  void aPodThatMayStillRunIsNotRestoredByADecisionOfAnEarlierBuild() {
    Pod pod = checkpointed();
    world.shared(0);
    world.node("node1", false);
    world.replace(ScheduleFixture.disrupted(pod, "DeletionByTaintManager", world.now));
    world.look();
    AutomaticRestore made = world.restored();
    assertThat(made.phase()).isNull();
    world
        .status()
        .setRestores(
            List.of(
                new AutomaticRestore(
                    made.restore(),
                    made.checkpoint(),
                    made.pod(),
                    made.podUid(),
                    null,
                    made.time(),
                    made.reason(),
                    made.skipped(),
                    null)));
    world.cluster.pods.clear();
    world.settle();

    assertThat(world.cluster.restores).isEmpty();
    assertThat(world.ready().message()).contains("node node1: expected Ready");
  }

  /** The user has requested a copy, perhaps of another pod, and it waits for a node. */
  @Test
  void anEventReportsAPodThatWaitsForAGpuRestoreOfItsUser() {
    Pod source = checkpointed();
    restoredByUser(world.names().get(0));
    world.ends("manual", RestorePhase.PENDING);
    world.failed(source);
    world.settle();

    assertThat(world.status().getRestores()).isNull();
    assertThat(world.stories)
        .extracting(Story::message)
        .anyMatch(it -> it.contains("GpuRestore manual, which has not ended"));
    world.ends("manual", RestorePhase.CANCELLED);
    world.settle();
    assertThat(world.restored().pod()).isEqualTo("trainer");
  }

  private void restoredByUser(String checkpoint) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(ScheduleFixture.NAMESPACE)
            .withName("manual")
            .withCreationTimestamp(world.now.plusSeconds(60).toString())
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(checkpoint));
    world.cluster.restores.add(restore);
    world.ends("manual", RestorePhase.SUCCEEDED);
  }

  private static boolean isRunOf(HasMetadata request, String pod) {
    return request instanceof GpuCheckpoint checkpoint
        && pod.equals(checkpoint.getSpec().podName());
  }

  private Pod checkpointed() {
    Pod pod = world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(world.names()).hasSize(1);
    return pod;
  }

  private Pod restored(String name, String checkpoint, String former) {
    return restored(world, name, checkpoint, former);
  }

  /**
   * A pod into which a workload was restored.
   *
   * @param former value of the annotation of its former pods
   */
  static Pod restored(ScheduleFixture world, String name, String checkpoint, String former) {
    Pod pod =
        new PodBuilder(world.pod(name))
            .editMetadata()
            .withCreationTimestamp(world.now.toString())
            .addToLabels(Api.CHECKPOINT_LABEL, checkpoint)
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, former)
            .endMetadata()
            .build();
    world.replace(pod);
    return pod;
  }
}
