package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.api.v1beta1.schedule.Retention;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Retention keeps the state of a copy until the copy has a checkpoint of its own. */
class CopyRetentionTest {

  private final ScheduleFixture world =
      new ScheduleFixture(
          spec -> {
            spec.setRestoreOnFailure(new RestoreOnFailure());
            spec.getOptions().setTimeZone("UTC");
            spec.setCheckpoint(ScheduleFixture.keeping(new Retention(1, null, null)));
          });

  /** The source has newer ones, and the copy has none of its own yet. */
  @Test
  void theOnlyCheckpointOfACopyIsKept() {
    String name = copied();
    Pod copy = named("copy");
    world.writes.refused = request -> isRunOf(request, "copy");
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    world.at(ScheduleFixture.START.plusSeconds(180)).settle();
    world.at(ScheduleFixture.START.plusSeconds(240)).settle();
    assertThat(world.names()).contains(name).hasSizeLessThan(4);

    world.writes.refused = request -> false;
    world.cluster.pods.remove(copy);
    world.at(ScheduleFixture.START.plusSeconds(300)).settle();
    assertThat(world.names()).doesNotContain(name);
  }

  /** It may be debugged beside its source, which the Service of the source must not notice. */
  @Test
  void theOnlyCheckpointOfACopyWithOtherLabelsIsKept() {
    String name = copied();
    Pod copy = named("copy");
    world.replace(
        new PodBuilder(copy)
            .editMetadata()
            .withLabels(Map.of("app", "debug"))
            .endMetadata()
            .build());
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    world.at(ScheduleFixture.START.plusSeconds(180)).settle();

    assertThat(world.names()).contains(name).hasSize(2);
  }

  /** Between its eviction and the end of its restore it is a target that waits. */
  @Test
  void theOnlyCheckpointOfACopyThatIsBeingMovedIsKept() {
    String name = copied();
    Pod copy = named("copy");
    world.replace(
        new PodBuilder(copy).editSpec().addNewReadinessGate(Api.RESTORED_GATE).endSpec().build());
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    world.at(ScheduleFixture.START.plusSeconds(180)).settle();

    assertThat(world.names()).contains(name).hasSize(2);
  }

  /** It is gone before the schedule looks, and its restore fails for want of room. */
  @Test
  void theOnlyCheckpointOfACopyIsKeptAfterItsFailure() {
    String name = copied();
    Pod copy = named("copy");
    world.writes.refused = request -> isRunOf(request, "copy");
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    world.gone(ScheduleFixture.disrupted(copy, "EvictionByEvictionAPI", world.now));
    world.settle();
    assertThat(world.restored().checkpoint()).isEqualTo(name);
    assertThat(world.names()).contains(name);

    world.ends(world.restored().restore(), RestorePhase.FAILED, "NoRoom");
    world.at(ScheduleFixture.START.plusSeconds(180)).settle();
    world.at(ScheduleFixture.START.plusSeconds(240)).settle();
    assertThat(world.names()).contains(name);
  }

  /** Returns the name of the checkpoint from which the copy was restored. */
  private String copied() {
    world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    String name = world.names().get(0);
    LineageTest.restored(world, "copy", name, "trainer-uid@" + world.frozen(0));
    return name;
  }

  private Pod named(String name) {
    return world.cluster.pod(ScheduleFixture.NAMESPACE, name).orElseThrow();
  }

  private static boolean isRunOf(HasMetadata request, String pod) {
    return request instanceof GpuCheckpoint checkpoint
        && pod.equals(checkpoint.getSpec().podName());
  }
}
