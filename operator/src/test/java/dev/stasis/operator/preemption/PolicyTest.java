package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.policy.Preemption;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.testing.Kstatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClassBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class PolicyTest {

  private final PreemptionFixture world = new PreemptionFixture();

  @Test
  void theVictimYieldsAndComesBackAndNobodyElseTakesThePlace() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    world.waiting("other", 10);
    Pod urgent = world.waiting("urgent", 1000);
    GpuPreemptionPolicy policy = world.policy("p", 100, 500);

    world.pass(Duration.ofSeconds(15));
    assertThat(urgent.getSpec().getNodeName()).isEqualTo("n");
    assertThat(policy.getStatus().getEvicted()).isEqualTo(1);
    assertThat(last(policy).reason()).isEqualTo("PreemptorPlaced");
    assertThat(last(policy).message()).contains("1 of 1 pods on n are preempted");

    world.ends("urgent");
    world.pass(Duration.ofSeconds(5));
    assertThat(world.pod("other").orElseThrow().getSpec().getNodeName()).isNull();
    assertThat(world.pod("batch").orElseThrow().getSpec().getNodeName()).isEqualTo("n");
    assertThat(policy.getStatus().getEvicted()).isZero();
    assertThat(world.cluster.checkpoints).isEmpty();
    assertThat(world.registry.get("stasis_preempted_gpu_seconds").counter().count())
        .isBetween(1.0, 30.0);
    assertThat(world.stories)
        .extracting(it -> it.reason().value())
        .contains("Yields", "RoomBeingMade", "Back");
  }

  @Test
  void theTimeThatItGaveCountsOnceHoweverOftenItIsSeenToBeBack() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    world.waiting("urgent", 1000);
    world.policy("p", 100, 500);
    world.pass(Duration.ofSeconds(15));
    world.writes.changedMeanwhile = true;
    world.ends("urgent");
    world.pass(Duration.ofSeconds(60));
    assertThat(world.registry.find("stasis_preempted_gpu_seconds").counter()).isNull();

    world.writes.changedMeanwhile = false;
    world.pass(Duration.ofSeconds(5));

    assertThat(world.registry.get("stasis_preempted_gpu_seconds").counter().count())
        .isBetween(1.0, 30.0);
  }

  @Test
  void howeverManyPodsWaitTheirNodesAreCountedOncePerPass() {
    for (int node = 0; node < 3; node++) {
      world.node("n-" + node, 1);
      world.running("batch-" + node, "n-" + node, 10);
    }
    for (int pod = 0; pod < 50; pod++) {
      world.waiting("hopeless-" + pod, 1000 + pod, 2);
    }
    world.policy("p", 100, 500);
    world.cluster.reads.clear();

    world.look();

    assertThat(world.writes.checkpointed).isEmpty();
    // Once for the candidates of the status, once for the decisions.
    assertThat(world.cluster.reads)
        .hasSize(3)
        .allSatisfy((node, times) -> assertThat(times).isEqualTo(2));
  }

  @Test
  void anHourOfTwoPoliciesAndEqualPrioritiesBringsNoPingPong() {
    world.node("n", 2);
    for (int pod = 0; pod < 2; pod++) {
      world.running("batch-" + pod, "n", 10);
    }
    world.policy("a", 100, 500, spec -> spec.setMinRunTime(TimeSpan.of("1m")));
    world.policy("b", 400, 401, spec -> spec.setMinRunTime(TimeSpan.of("1m")));
    for (int pod = 0; pod < 3; pod++) {
      world.waiting("urgent-" + pod, 1000);
      world.waiting("same-" + pod, 10);
    }

    world.pass(Duration.ofHours(1));
    assertThat(world.writes.checkpointed).containsExactlyInAnyOrder("batch-0", "batch-1");
    assertThat(world.cluster.podsOn("n"))
        .extracting(pod -> pod.getMetadata().getName())
        .allMatch(name -> name.startsWith("urgent"));
  }

  @Test
  void aPodThatCameBackIsLeftAloneForItsMinimumTimeAndItsBudget() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    world.policy("p", 100, 500, spec -> spec.setMinRunTime(TimeSpan.of("5m")));
    int times = 0;
    for (int minute = 0; minute < 50; minute++) {
      if (world.pod("urgent").isEmpty()) {
        world.waiting("urgent", 1000);
      }
      world.pass(Duration.ofMinutes(1));
      if (world.pod("urgent").filter(it -> it.getSpec().getNodeName() != null).isPresent()) {
        world.ends("urgent");
        times++;
      }
      world.pass(Duration.ofSeconds(3));
    }

    // Two an hour, as the policy's default says.
    assertThat(world.writes.checkpointed).hasSize(2);
    assertThat(times).isEqualTo(2);
  }

  @Test
  void aVictimThatCannotBeFrozenIsNotTriedAgainAndAnotherOneYields() {
    world.node("n", 2);
    world.running("a", "n", 10);
    world.running("b", "n", 20);
    GpuPreemptionPolicy policy = world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    world.freezes = false;
    world.pass(Duration.ofSeconds(11));
    assertThat(world.writes.checkpointed).startsWith("a");
    world.freezes = true;
    world.pass(Duration.ofSeconds(15));

    assertThat(world.writes.checkpointed).containsExactly("a", "b");
    assertThat(world.pod("a")).isPresent();
    assertThat(world.pod("urgent").orElseThrow().getSpec().getNodeName()).isEqualTo("n");
    assertThat(policy.getStatus().getBudgetUsed()).isEqualTo(2);
  }

  /** Its agent was silent until the failure, and has reported a complete artifact since. */
  @Test
  void aFailedCheckpointWithAReadyArtifactIsKeptForItsUser() {
    world.node("n", 1);
    world.running("a", "n", 10);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    world.freezes = false;
    world.pass(Duration.ofSeconds(11));
    GpuCheckpoint failed = world.cluster.checkpoints.get(0);
    failed
        .getStatus()
        .setConditions(
            List.of(
                new Condition(
                    "Ready", ConditionValue.TRUE, "ArtifactVerified", "", world.now, 1L)));
    world.ends("urgent");
    world.pass(Duration.ofMinutes(61));

    assertThat(world.cluster.checkpoints).containsExactly(failed);
    assertThat(world.cluster.restores).as("only its user restores it").isEmpty();
    assertThat(world.stories)
        .filteredOn(story -> story.reason() == Reason.NOT_BROUGHT_BACK)
        .extracting(Story::message)
        .contains(
            "pod ml/a was removed although its checkpoint failed: create a GpuRestore of "
                + failed.getMetadata().getName());
  }

  @Test
  void aFreezeThatNobodyNeedsAnyMoreIsUndone() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    world.pass(Duration.ofSeconds(3));
    world.ends("urgent");
    world.pass(Duration.ofSeconds(30));

    assertThat(world.pod("batch").orElseThrow().getSpec().getNodeName()).isEqualTo("n");
    assertThat(world.cluster.restores).isEmpty();
  }

  @Test
  void classesThatPreemptByThemselvesStopThePolicyByTheirNames() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    GpuPreemptionPolicy policy = world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    for (String name : List.of("urgent", "never", "system-node-critical", "low")) {
      world.cluster.priorityClasses.add(
          new PriorityClassBuilder()
              .withNewMetadata()
              .withName(name)
              .endMetadata()
              .withValue(name.equals("low") ? 5 : 1000)
              .withPreemptionPolicy(name.equals("never") ? "Never" : "PreemptLowerPriority")
              .build());
    }
    world.pass(Duration.ofSeconds(5));

    assertThat(world.writes.checkpointed).isEmpty();
    assertThat(PreemptionFixture.ready(policy).status()).isEqualTo(ConditionValue.FALSE);
    assertThat(PreemptionFixture.ready(policy).reason()).isEqualTo("SchedulerPreemptsFirst");
    assertThat(policy.getStatus().getPreemptingClasses()).containsExactly("urgent");
    assertThat(new Kstatus().verdict(policy)).isEqualTo(Kstatus.Verdict.FAILED);

    policy.getSpec().getOptions().setInterceptScheduler(true);
    world.pass(Duration.ofSeconds(2));
    assertThat(world.writes.checkpointed).containsExactly("batch");
    assertThat(new Kstatus().verdict(policy)).isEqualTo(Kstatus.Verdict.CURRENT);
  }

  @Test
  void noPodIsPreemptedForAPodThatWasScheduledMeanwhile() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    world.writes.bound.add("urgent");
    world.pass(Duration.ofSeconds(5));

    assertThat(world.writes.checkpointed).isEmpty();
  }

  @Test
  void theOlderOfTwoPoliciesTakesPrecedenceAndTheOtherReportsIt() {
    world.node("n", 1);
    world.running("batch", "n", 10);
    world.policy("older", 5, 500);
    GpuPreemptionPolicy younger = world.policy("younger", 100, 500);
    world.waiting("urgent", 1000);
    world.pass(Duration.ofSeconds(5));

    assertThat(world.writes.checkpointed).isEmpty();
    assertThat(PreemptionFixture.ready(younger).reason()).isEqualTo("ConflictingPolicies");
    assertThat(PreemptionFixture.ready(younger).message())
        .isEqualTo(
            "preemptors: pod ml/urgent also matches the older policy older, which takes"
                + " precedence");
  }

  @Test
  void theMessageCountsThePodsThatCannotBePreempted() {
    world.node("n", 1);
    world.running("important", "n", 200);
    GpuPreemptionPolicy policy = world.policy("p", 100, 500);
    world.waiting("urgent", 1000);
    world.pass(Duration.ofSeconds(2));

    assertThat(PreemptionFixture.ready(policy).status()).isEqualTo(ConditionValue.TRUE);
    assertThat(PreemptionFixture.ready(policy).reason()).isEqualTo("NoVictims");
    assertThat(PreemptionFixture.ready(policy).message())
        .isEqualTo(
            "ml/urgent: no preemption, because the pod would still not fit: n: nvidia.com/gpu:"
                + " requested 1, free 0 (spared: 1 with too high a priority)");
    assertThat(policy.getStatus().getWaiting()).isEqualTo(1);
  }

  @Test
  void namesOfVictimsAreKeptShortAndAlwaysTheSame() {
    Pod victim = PreemptionSamples.pod("a".repeat(70), 1, 1);
    victim.getMetadata().setUid("v");
    Pod preemptor = PreemptionSamples.pod("p", 1, 1);
    preemptor.getMetadata().setUid("p");

    assertThat(PreemptionRequests.name(victim, preemptor))
        .hasSize(63)
        .isEqualTo(PreemptionRequests.name(victim, preemptor));
  }

  private static Preemption last(GpuPreemptionPolicy policy) {
    return Objects.requireNonNull(policy.getStatus().getLast()).get(0);
  }
}
