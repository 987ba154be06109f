package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A quota or a policy of one namespace refuses what a preemption policy creates there. */
class RefusedRequestTest {

  private final PreemptionFixture world = new PreemptionFixture();

  @Test
  void aRefusedRestoreIsRepeatedAndDoesNotStopThatOfAnotherNamespace() {
    world.node("n", 2);
    world.running("a", "n", 10).getMetadata().setNamespace("full");
    world.running("b", "n", 10);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000, 2);
    world.writes.refused =
        request ->
            request instanceof GpuRestore && "full".equals(request.getMetadata().getNamespace());
    world.look();
    world.look();

    assertThat(world.writes.checkpointed).containsExactlyInAnyOrder("a", "b");
    assertThat(world.cluster.restores)
        .extracting(it -> it.getMetadata().getNamespace())
        .containsExactly("ml");
    assertThat(world.stories)
        .filteredOn(it -> it.reason().value().equals("RefusedByCluster"))
        .isNotEmpty()
        .allSatisfy(
            it ->
                assertThat(it.message())
                    .startsWith("pod full/a cannot be restored yet, because its GpuRestore a-")
                    .endsWith(" is refused: exceeded quota: stasis"));

    world.writes.refused = request -> false;
    world.look();
    assertThat(world.cluster.restores)
        .extracting(it -> it.getMetadata().getNamespace())
        .containsExactlyInAnyOrder("ml", "full");
  }

  @Test
  void aVictimWhoseCheckpointIsRefusedIsSkippedAtOnceAndAnotherOneYields() {
    world.node("n", 2);
    world.running("a", "n", 10);
    world.running("b", "n", 20);
    GpuPreemptionPolicy policy = world.policy("p", 100, 500);
    Pod urgent = world.waiting("urgent", 1000);
    world.writes.refused = request -> isCheckpointOf("a", request);
    world.writes.refusal = "denied by a webhook";

    assertThat(world.look()).as("looks again at once").isTrue();
    assertThat(PreemptionFixture.ready(policy).status()).isEqualTo(ConditionValue.TRUE);
    assertThat(PreemptionFixture.ready(policy).reason()).isEqualTo("CheckpointRefused");
    assertThat(PreemptionFixture.ready(policy).message())
        .isEqualTo(
            "ml/urgent: pod ml/a is not preempted, because its GpuCheckpoint is refused: denied"
                + " by a webhook");
    assertThat(policy.getStatus().getLast()).isNull();

    assertThat(world.look()).isFalse();
    assertThat(world.writes.checkpointed).containsExactly("b");
    world.pass(Duration.ofSeconds(15));
    assertThat(urgent.getSpec().getNodeName()).isEqualTo("n");
    assertThat(world.pod("a")).isPresent();
    assertThat(policy.getStatus().getBudgetUsed()).isEqualTo(1);
  }

  @Test
  void noVictimIsPreemptedIfThatOfAnotherOneIsRefused() {
    world.node("n", 2);
    world.running("a", "n", 10);
    world.running("b", "n", 20);
    GpuPreemptionPolicy policy = world.policy("p", 100, 500);
    world.waiting("urgent", 1000, 2);
    world.writes.refused = request -> isCheckpointOf("b", request);
    world.writes.refusal = "denied by a webhook";

    world.look();
    assertThat(world.writes.checkpointed).containsExactly("a");
    assertThat(world.cluster.checkpoints).isEmpty();

    world.pass(Duration.ofSeconds(15));
    assertThat(world.cluster.checkpoints).isEmpty();
    assertThat(world.pod("a")).isPresent();
    assertThat(PreemptionFixture.ready(policy).reason()).isEqualTo("NoVictims");
    assertThat(PreemptionFixture.ready(policy).message())
        .contains("1 whose GpuCheckpoint was refused in the last hour");
    assertThat(world.stories).extracting(it -> it.reason().value()).doesNotContain("Yields");
  }

  /** Its quota refuses each of them, and another namespace has a victim. */
  @Test
  void aNamespaceWhoseQuotaIsFullIsAskedOnce() {
    world.node("n", 4);
    List.of("a", "b", "c")
        .forEach(pod -> world.running(pod, "n", 10).getMetadata().setNamespace("full"));
    world.running("d", "n", 20);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    List<String> refused = new ArrayList<>();
    world.writes.refused =
        request ->
            "full".equals(request.getMetadata().getNamespace())
                && refused.add(request.getMetadata().getName());

    assertThat(world.look()).isTrue();
    assertThat(world.look()).isFalse();
    assertThat(refused).hasSize(1);
    assertThat(world.writes.checkpointed).containsExactly("d");
  }

  @Test
  void aNamespaceWhoseQuotaIsFullIsAskedAgainAfterFiveMinutes() {
    world.node("n", 2);
    world.running("a", "n", 10);
    world.running("b", "n", 10);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    List<String> refused = new ArrayList<>();
    world.writes.refused = request -> refused.add(request.getMetadata().getName());
    for (int seconds = 0; seconds < 270; seconds += 15) {
      world.look();
      world.look();
      world.pass(Duration.ofSeconds(15));
    }
    assertThat(refused).hasSize(1);

    world.writes.refused = request -> false;
    world.pass(Duration.ofSeconds(45));
    assertThat(world.writes.checkpointed).hasSize(1);
  }

  /** The store's quota refuses a GpuCheckpoint after its creation. */
  @Test
  void aNamespaceWhoseStoreQuotaIsFullIsAskedOnce() {
    world.node("n", 2);
    world.running("a", "n", 10);
    world.running("b", "n", 10);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    world.look();
    GpuCheckpoint refused = world.cluster.checkpoints.get(0);
    refused.setStatus(new GpuCheckpointStatus());
    refused.getStatus().setPhase(CheckpointPhase.FAILED);
    refused
        .getStatus()
        .setFaults(
            List.of(new Fault("QuotaExceeded", "quota", null, null, null, null, "it is full")));
    world.look();
    world.look();

    assertThat(world.writes.checkpointed).hasSize(1);
  }

  private static boolean isCheckpointOf(String pod, HasMetadata request) {
    return request instanceof GpuCheckpoint checkpoint
        && pod.equals(checkpoint.getSpec().podName());
  }
}
