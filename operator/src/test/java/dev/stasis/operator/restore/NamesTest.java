package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.operator.testing.FakeCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A restore waits for the name of a pod that goes, and for no other. */
class NamesTest {

  private final FakeCluster cluster = new FakeCluster();
  private final Names names = new Names(cluster);

  @Test
  void aPodThatIsGoingKeepsItsNameForAWhile() {
    Pod going = pod("another-uid");
    going.getMetadata().setDeletionTimestamp("2026-11-22T02:14:22Z");
    cluster.pods.add(going);
    assertThat(names.isFreed(restore(), evicted())).isTrue();
  }

  @Test
  void aPodThatHasGoneSinceItWasCountedIsNoReasonToFail() {
    assertThat(names.isFreed(restore(), evicted())).isTrue();
  }

  @Test
  void theNameOfAnEvictedPodIsFreeBeforeTheWatchReportsIt() {
    cluster.pods.add(pod("pod-uid"));
    assertThat(names.isFreed(restore(), evicted())).isTrue();
  }

  @Test
  void aPodThatGoesOnKeepsItsName() {
    cluster.pods.add(pod("pod-uid"));
    GpuCheckpoint resumed = Examples.checkpoint("ml", "train-1");
    assertThat(names.isFreed(restore(), resumed)).isFalse();
  }

  @Test
  void aPodThatResumedAfterTheCheckpointKeepsItsName() {
    cluster.pods.add(pod("pod-uid"));
    assertThat(names.isFreed(restore(), checkpoint(ConditionValue.TRUE, "Resumed"))).isFalse();
  }

  @Test
  void aSuspendedPodKeepsItsName() {
    cluster.pods.add(pod("pod-uid"));
    assertThat(names.isFreed(restore(), checkpoint(ConditionValue.FALSE, "Suspended"))).isFalse();
  }

  @Test
  void anotherPodKeepsItsName() {
    cluster.pods.add(pod("another-uid"));
    assertThat(names.isFreed(restore(), evicted())).isFalse();
  }

  private static GpuCheckpoint evicted() {
    return checkpoint(ConditionValue.FALSE, "Evicted");
  }

  private static GpuCheckpoint checkpoint(ConditionValue sourceRunning, String reason) {
    GpuCheckpoint checkpoint = Examples.checkpoint("ml", "train-1");
    checkpoint
        .getStatus()
        .setConditions(
            List.of(
                new Condition("SourceRunning", sourceRunning, reason, "", Instant.EPOCH, null)));
    return checkpoint;
  }

  private static GpuRestore restore() {
    GpuRestore restore = new GpuRestore();
    restore.getMetadata().setNamespace("ml");
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setTarget(new Target(null, null, "trainer", null));
    return restore;
  }

  private static Pod pod(String uid) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("ml")
        .withName("trainer")
        .withUid(uid)
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .build();
  }
}
