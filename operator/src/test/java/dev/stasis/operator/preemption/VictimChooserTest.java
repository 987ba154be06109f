package dev.stasis.operator.preemption;

import static dev.stasis.operator.preemption.PreemptionSamples.affine;
import static dev.stasis.operator.preemption.PreemptionSamples.node;
import static dev.stasis.operator.preemption.PreemptionSamples.place;
import static dev.stasis.operator.preemption.PreemptionSamples.pod;
import static dev.stasis.operator.preemption.PreemptionSamples.port;
import static dev.stasis.operator.preemption.PreemptionSamples.running;
import static dev.stasis.operator.preemption.PreemptionSamples.spreadConstraint;
import static dev.stasis.operator.preemption.PreemptionSamples.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.policy.VictimOrder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VictimChooserTest {
  static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
  private static final VictimRules RULES =
      new VictimRules(100, Duration.ofMinutes(10), 20, 2, 8, false, List.of());

  @Test
  void theLowestPriorityYieldsThenTheLeastWorkThenTheShortestFreeze() {
    VictimCandidate important = running("a", 1, 50, 60, 5);
    VictimCandidate old = running("b", 1, 10, 300, 5);
    VictimCandidate slow = running("c", 1, 10, 60, 9);
    VictimCandidate cheapest = running("d", 1, 10, 60, 5);

    PreemptionDecision.Preempt take =
        take(pod("p", 1, 1000), place("n", 4, important, old, slow, cheapest));

    assertThat(take.assignments().get(0).victims()).containsExactly(cheapest);
    assertThat(take.assignments().get(0).why())
        .contains("1 of 4 pods on n are preempted", "priority 10");
  }

  @Test
  void theOrderOfThePolicyCounts() {
    VictimCandidate important = running("a", 1, 50, 20, 5);
    VictimCandidate old = running("b", 1, 10, 300, 5);
    VictimRules byWork =
        new VictimRules(100, Duration.ZERO, 20, 2, 8, false, List.of(VictimOrder.LEAST_WORK_LOST));

    PreemptionDecision decision =
        new VictimChooser(byWork, NOW)
            .choose(List.of(pod("p", 1, 1000)), List.of(place("n", 2, important, old)));

    assertThat(((PreemptionDecision.Preempt) decision).assignments().get(0).victims())
        .containsExactly(important);
  }

  @Test
  void noPodIsPreemptedIfThePreemptorFits() {
    VictimCandidate victim = running("a", 1, 1, 60, 5);

    PreemptionDecision.Preempt take =
        take(pod("p", 1, 1000), place("full", 1, victim), place("half", 2, victim));

    assertThat(take.assignments().get(0).node()).isEqualTo("half");
    assertThat(take.assignments().get(0).victims()).isEmpty();
  }

  @Test
  void theNodeWithTheFewestVictimsOfTheLowestPriorityIsTaken() {
    NodeSnapshot two = place("a-two", 2, running("a", 1, 1, 60, 5), running("b", 1, 1, 60, 5));
    NodeSnapshot one = place("b-one", 2, running("c", 2, 1, 60, 5));
    NodeSnapshot dear = place("c-dear", 2, running("d", 2, 90, 60, 5));

    PreemptionDecision.Preempt take = take(pod("p", 2, 1000), two, one, dear);

    assertThat(take.assignments().get(0).node()).isEqualTo("b-one");
  }

  @Test
  void noMorePodsThanNecessaryArePreempted() {
    VictimCandidate small = running("small", 1, 1, 60, 5);
    VictimCandidate big = running("big", 4, 2, 60, 5);

    PreemptionDecision.Preempt take = take(pod("p", 4, 1000), place("n", 5, small, big));

    assertThat(take.assignments().get(0).victims()).containsExactly(big);
  }

  @Test
  void nothingIsTakenWhenItWouldStillNotFitInGpusCpuMemoryPodsOrPorts() {
    NodeSnapshot node = place("n", 2, running("a", 2, 1, 60, 5));
    Map<String, Pod> preemptors =
        Map.of(
            "nvidia.com/gpu: requested 3, free 2",
            pod("p", 3, 1000),
            "cpu: requested 99",
            with(pod("p", 1, 1000), "cpu", "99"),
            "memory: requested",
            with(pod("p", 1, 1000), "memory", "1Ti"),
            "example.com/license: requested 1, free 0",
            with(pod("p", 1, 1000), "example.com/license", "1"));
    preemptors.forEach(
        (missing, preemptor) -> {
          PreemptionDecision decision =
              new VictimChooser(RULES, NOW).choose(List.of(preemptor), List.of(node));
          assertThat(decision).isInstanceOf(PreemptionDecision.Unplaceable.class);
          assertThat(((PreemptionDecision.Unplaceable) decision).missing().get("n"))
              .contains(missing);
        });
  }

  @Test
  void aHostPortOfAPodThatStaysIsInTheWay() {
    VictimCandidate port =
        new VictimCandidate(
            port(pod("daemon", 0, 2000), 8080),
            NOW,
            NOW,
            Duration.ZERO,
            Optional.of("without a GPU"),
            Optional.empty(),
            0);
    PreemptionDecision decision =
        new VictimChooser(RULES, NOW)
            .choose(
                List.of(port(pod("p", 1, 1000), 8080)),
                List.of(place("n", 1, running("a", 1, 1, 60, 5), port)));

    assertThat(((PreemptionDecision.Unplaceable) decision).missing().get("n"))
        .contains("host port TCP 8080 is used by ml/daemon");
  }

  @Test
  void taintsLabelsAffinityAndCordonsKeepEveryoneInPlace() {
    VictimCandidate victim = running("a", 1, 1, 60, 5);
    Node tainted =
        new NodeBuilder(node("tainted", 1))
            .editOrNewSpec()
            .addNewTaint()
            .withKey("gpu")
            .withEffect("NoSchedule")
            .endTaint()
            .endSpec()
            .build();
    Node cordoned =
        new NodeBuilder(node("cordoned", 1))
            .editOrNewSpec()
            .withUnschedulable(true)
            .endSpec()
            .build();
    Pod picky =
        new PodBuilder(pod("p", 1, 1000))
            .editSpec()
            .addToNodeSelector("zone", "a")
            .endSpec()
            .build();

    assertThat(nothing(pod("p", 1, 1000), new NodeSnapshot(tainted, List.of(victim))))
        .contains("taint gpu");
    assertThat(nothing(pod("p", 1, 1000), new NodeSnapshot(cordoned, List.of(victim))))
        .contains("cordoned");
    assertThat(nothing(picky, place("n", 1, victim))).contains("label zone: expected a, got null");
    Pod tolerant =
        new PodBuilder(pod("p", 1, 1000))
            .editSpec()
            .addNewToleration()
            .withKey("gpu")
            .withOperator("Exists")
            .endToleration()
            .endSpec()
            .build();
    assertThat(take(tolerant, new NodeSnapshot(tainted, List.of(victim))).assignments()).hasSize(1);
  }

  @Test
  void nodeAffinityIsReadAsTheSchedulerReadsIt() {
    VictimCandidate victim = running("a", 1, 1, 60, 5);
    Pod elsewhere = affine("metadata.name", "In", "other");
    Pod here = affine("metadata.name", "In", "n");
    Pod notHere = affine("metadata.name", "NotIn", "n");

    assertThat(nothing(elsewhere, place("n", 1, victim))).contains("node affinity");
    assertThat(nothing(notHere, place("n", 1, victim))).contains("node affinity");
    assertThat(take(here, place("n", 1, victim)).assignments()).hasSize(1);
  }

  @Test
  void noPodIsPreemptedForAnUnsupportedConstraint() {
    Pod spread =
        new PodBuilder(pod("p", 1, 1000))
            .editSpec()
            .addToTopologySpreadConstraints(spreadConstraint())
            .endSpec()
            .build();

    assertThat(nothing(spread, place("n", 1, running("a", 1, 1, 60, 5)))).contains("not supported");
  }

  @Test
  void sparedPodsStayAndTheirReasonsAreCounted() {
    VictimCandidate young =
        new VictimCandidate(
            pod("young", 1, 1),
            NOW.minusSeconds(60),
            NOW.minusSeconds(60),
            Duration.ZERO,
            Optional.empty(),
            Optional.empty(),
            0);
    VictimCandidate gang =
        new VictimCandidate(
            pod("gang", 1, 1),
            NOW.minusSeconds(6000),
            NOW.minusSeconds(6000),
            Duration.ZERO,
            Optional.empty(),
            Optional.of("Job train with parallelism 4"),
            0);
    VictimCandidate often =
        new VictimCandidate(
            pod("often", 1, 1),
            NOW.minusSeconds(6000),
            NOW.minusSeconds(6000),
            Duration.ZERO,
            Optional.empty(),
            Optional.empty(),
            2);
    VictimCandidate high = running("high", 1, 500, 60, 5);

    assertThat(nothing(pod("p", 1, 1000), place("n", 4, young, gang, often, high)))
        .contains(
            "1 within its minimum run time",
            "1 part of a gang",
            "1 preempted too often",
            "1 with too high a priority");
  }

  @Test
  void noVictimIsAsImportantAsThePreemptor() {
    assertThat(nothing(pod("p", 1, 50), place("n", 1, running("a", 1, 50, 60, 5))))
        .contains("too high a priority");
  }

  @Test
  void aGangGetsRoomForAllOrForNone() {
    NodeSnapshot first = place("a", 1, running("a", 1, 1, 60, 5));
    NodeSnapshot second = place("b", 1, running("b", 1, 1, 60, 5));
    List<Pod> two = List.of(pod("p0", 1, 1000), pod("p1", 1, 1000));
    List<Pod> three = List.of(pod("p0", 1, 1000), pod("p1", 1, 1000), pod("p2", 1, 1000));

    PreemptionDecision both = new VictimChooser(RULES, NOW).choose(two, List.of(first, second));
    assertThat(((PreemptionDecision.Preempt) both).assignments())
        .extracting(NodeAssignment::node)
        .containsExactlyInAnyOrder("a", "b");
    assertThat(new VictimChooser(RULES, NOW).choose(three, List.of(first, second)))
        .isInstanceOf(PreemptionDecision.Unplaceable.class);
  }

  @Test
  void theBudgetHoldsForAllOfThem() {
    VictimRules tight = new VictimRules(100, Duration.ZERO, 1, 2, 8, false, List.of());
    NodeSnapshot node = place("n", 2, running("a", 1, 1, 60, 5), running("b", 1, 1, 60, 5));

    PreemptionDecision decision =
        new VictimChooser(tight, NOW).choose(List.of(pod("p", 2, 1000)), List.of(node));

    assertThat(((PreemptionDecision.Unplaceable) decision).missing().get("n"))
        .contains("requires 2 victims, more than the limit of 1");
  }

  @Test
  void reservedResourcesAreNotFree() {
    NodeSnapshot reserved =
        new NodeSnapshot(node("n", 2), List.of(running("a", 1, 1, 60, 5)))
            .reserving(ResourceAmounts.of(pod("q", 1, 2000)));

    PreemptionDecision.Preempt take = take(pod("p", 1, 1000), reserved);

    assertThat(take.assignments().get(0).victims()).hasSize(1);
  }

  @Test
  void theSameInputInAnotherOrderGivesTheSameDecision() {
    List<NodeSnapshot> places = new ArrayList<>();
    for (int n = 0; n < 125; n++) {
      VictimCandidate[] pods = new VictimCandidate[8];
      for (int i = 0; i < 8; i++) {
        pods[i] = running("p" + n + "-" + i, 1, (n * 7 + i * 3) % 90, 20 + (n + i) % 50, i);
      }
      places.add(place("n" + n, 8, pods));
    }
    PreemptionDecision one =
        new VictimChooser(RULES, NOW).choose(List.of(pod("p", 2, 1000)), places);
    List<NodeSnapshot> turned = new ArrayList<>(places);
    java.util.Collections.reverse(turned);

    assertThat(new VictimChooser(RULES, NOW).choose(List.of(pod("p", 2, 1000)), turned))
        .isEqualTo(one);
    assertThat(one).isInstanceOf(PreemptionDecision.Preempt.class);
  }

  private PreemptionDecision.Preempt take(Pod preemptor, NodeSnapshot... places) {
    PreemptionDecision decision =
        new VictimChooser(RULES, NOW).choose(List.of(preemptor), List.of(places));
    assertThat(decision).isInstanceOf(PreemptionDecision.Preempt.class);
    return (PreemptionDecision.Preempt) decision;
  }

  private String nothing(Pod preemptor, NodeSnapshot place) {
    PreemptionDecision decision =
        new VictimChooser(RULES, NOW).choose(List.of(preemptor), List.of(place));
    assertThat(decision).isInstanceOf(PreemptionDecision.Unplaceable.class);
    return String.join("; ", ((PreemptionDecision.Unplaceable) decision).missing().values());
  }
}
