package dev.stasis.operator.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.policy.VictimOrder;
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
  private static final Rules RULES =
      new Rules(100, Duration.ofMinutes(10), 20, 2, 8, false, List.of());

  private final VictimChooser chooser = new VictimChooser();

  @Test
  void theLowestPriorityYieldsThenTheLeastWorkThenTheShortestFreeze() {
    Candidate important = Made.running("a", 1, 50, 60, 5);
    Candidate old = Made.running("b", 1, 10, 300, 5);
    Candidate slow = Made.running("c", 1, 10, 60, 9);
    Candidate cheapest = Made.running("d", 1, 10, 60, 5);

    Decision.Take take =
        take(Made.pod("p", 1, 1000), Made.place("n", 4, important, old, slow, cheapest));

    assertThat(take.rooms().get(0).victims()).containsExactly(cheapest);
    assertThat(take.rooms().get(0).why()).contains("1 of 4 pods on n yield", "priority 10");
  }

  @Test
  void theOrderOfThePolicyCounts() {
    Candidate important = Made.running("a", 1, 50, 20, 5);
    Candidate old = Made.running("b", 1, 10, 300, 5);
    Rules byWork =
        new Rules(100, Duration.ZERO, 20, 2, 8, false, List.of(VictimOrder.LEAST_WORK_LOST));

    Decision decision =
        chooser.choose(
            List.of(Made.pod("p", 1, 1000)),
            List.of(Made.place("n", 2, important, old)),
            byWork,
            NOW);

    assertThat(((Decision.Take) decision).rooms().get(0).victims()).containsExactly(important);
  }

  @Test
  void nobodyYieldsWhereItFitsAlready() {
    Candidate victim = Made.running("a", 1, 1, 60, 5);

    Decision.Take take =
        take(Made.pod("p", 1, 1000), Made.place("full", 1, victim), Made.place("half", 2, victim));

    assertThat(take.rooms().get(0).node()).isEqualTo("half");
    assertThat(take.rooms().get(0).victims()).isEmpty();
  }

  @Test
  void theNodeWithTheFewestVictimsOfTheLowestPriorityIsTaken() {
    Place two =
        Made.place("a-two", 2, Made.running("a", 1, 1, 60, 5), Made.running("b", 1, 1, 60, 5));
    Place one = Made.place("b-one", 2, Made.running("c", 2, 1, 60, 5));
    Place dear = Made.place("c-dear", 2, Made.running("d", 2, 90, 60, 5));

    Decision.Take take = take(Made.pod("p", 2, 1000), two, one, dear);

    assertThat(take.rooms().get(0).node()).isEqualTo("b-one");
  }

  @Test
  void whoeverCanStayStays() {
    Candidate small = Made.running("small", 1, 1, 60, 5);
    Candidate big = Made.running("big", 4, 2, 60, 5);

    Decision.Take take = take(Made.pod("p", 4, 1000), Made.place("n", 5, small, big));

    assertThat(take.rooms().get(0).victims()).containsExactly(big);
  }

  @Test
  void nothingIsTakenWhenItWouldStillNotFitInGpusCpuMemoryPodsOrPorts() {
    Place node = Made.place("n", 2, Made.running("a", 2, 1, 60, 5));
    Map<String, Pod> preemptors =
        Map.of(
            "nvidia.com/gpu: wanted 3, free 2",
            Made.pod("p", 3, 1000),
            "cpu: wanted 99",
            Made.with(Made.pod("p", 1, 1000), "cpu", "99"),
            "memory: wanted",
            Made.with(Made.pod("p", 1, 1000), "memory", "1Ti"),
            "example.com/license: wanted 1, free 0",
            Made.with(Made.pod("p", 1, 1000), "example.com/license", "1"));
    preemptors.forEach(
        (missing, preemptor) -> {
          Decision decision = chooser.choose(List.of(preemptor), List.of(node), RULES, NOW);
          assertThat(decision).isInstanceOf(Decision.Nothing.class);
          assertThat(((Decision.Nothing) decision).missing().get("n")).contains(missing);
        });
  }

  @Test
  void aHostPortOfAPodThatStaysIsInTheWay() {
    Candidate port =
        new Candidate(
            Made.port(Made.pod("daemon", 0, 2000), 8080),
            NOW,
            NOW,
            Duration.ZERO,
            Optional.of("without a GPU"),
            Optional.empty(),
            0);
    Decision decision =
        chooser.choose(
            List.of(Made.port(Made.pod("p", 1, 1000), 8080)),
            List.of(Made.place("n", 1, Made.running("a", 1, 1, 60, 5), port)),
            RULES,
            NOW);

    assertThat(((Decision.Nothing) decision).missing().get("n"))
        .contains("host port TCP 8080 is ml/daemon's");
  }

  @Test
  void taintsLabelsAffinityAndCordonsKeepEveryoneInPlace() {
    Candidate victim = Made.running("a", 1, 1, 60, 5);
    Node tainted =
        new NodeBuilder(Made.node("tainted", 1))
            .editOrNewSpec()
            .addNewTaint()
            .withKey("gpu")
            .withEffect("NoSchedule")
            .endTaint()
            .endSpec()
            .build();
    Node cordoned =
        new NodeBuilder(Made.node("cordoned", 1))
            .editOrNewSpec()
            .withUnschedulable(true)
            .endSpec()
            .build();
    Pod picky =
        new PodBuilder(Made.pod("p", 1, 1000))
            .editSpec()
            .addToNodeSelector("zone", "a")
            .endSpec()
            .build();

    assertThat(nothing(Made.pod("p", 1, 1000), new Place(tainted, List.of(victim))))
        .contains("taint gpu");
    assertThat(nothing(Made.pod("p", 1, 1000), new Place(cordoned, List.of(victim))))
        .contains("cordoned");
    assertThat(nothing(picky, Made.place("n", 1, victim)))
        .contains("label zone: wanted a, found null");
    Pod tolerant =
        new PodBuilder(Made.pod("p", 1, 1000))
            .editSpec()
            .addNewToleration()
            .withKey("gpu")
            .withOperator("Exists")
            .endToleration()
            .endSpec()
            .build();
    assertThat(take(tolerant, new Place(tainted, List.of(victim))).rooms()).hasSize(1);
  }

  @Test
  void nodeAffinityIsReadAsTheSchedulerReadsIt() {
    Candidate victim = Made.running("a", 1, 1, 60, 5);
    Pod elsewhere = Made.affine("metadata.name", "In", "other");
    Pod here = Made.affine("metadata.name", "In", "n");
    Pod notHere = Made.affine("metadata.name", "NotIn", "n");

    assertThat(nothing(elsewhere, Made.place("n", 1, victim))).contains("node affinity");
    assertThat(nothing(notHere, Made.place("n", 1, victim))).contains("node affinity");
    assertThat(take(here, Made.place("n", 1, victim)).rooms()).hasSize(1);
  }

  @Test
  void nobodyYieldsForWhatIsNotWeighed() {
    Pod spread =
        new PodBuilder(Made.pod("p", 1, 1000))
            .editSpec()
            .addToTopologySpreadConstraints(Made.spreadConstraint())
            .endSpec()
            .build();

    assertThat(nothing(spread, Made.place("n", 1, Made.running("a", 1, 1, 60, 5))))
        .contains("not weighed");
  }

  @Test
  void whoIsSparedStaysAndTheReasonIsCounted() {
    Candidate young =
        new Candidate(
            Made.pod("young", 1, 1),
            NOW.minusSeconds(60),
            NOW.minusSeconds(60),
            Duration.ZERO,
            Optional.empty(),
            Optional.empty(),
            0);
    Candidate gang =
        new Candidate(
            Made.pod("gang", 1, 1),
            NOW.minusSeconds(6000),
            NOW.minusSeconds(6000),
            Duration.ZERO,
            Optional.empty(),
            Optional.of("Job train with parallelism 4"),
            0);
    Candidate often =
        new Candidate(
            Made.pod("often", 1, 1),
            NOW.minusSeconds(6000),
            NOW.minusSeconds(6000),
            Duration.ZERO,
            Optional.empty(),
            Optional.empty(),
            2);
    Candidate high = Made.running("high", 1, 500, 60, 5);

    assertThat(nothing(Made.pod("p", 1, 1000), Made.place("n", 4, young, gang, often, high)))
        .contains(
            "1 within its minimum run time",
            "1 part of a gang",
            "1 a victim often enough",
            "1 of too high a priority");
  }

  @Test
  void noVictimIsAsImportantAsThePreemptor() {
    assertThat(nothing(Made.pod("p", 1, 50), Made.place("n", 1, Made.running("a", 1, 50, 60, 5))))
        .contains("too high a priority");
  }

  @Test
  void aGangGetsRoomForAllOrForNone() {
    Place first = Made.place("a", 1, Made.running("a", 1, 1, 60, 5));
    Place second = Made.place("b", 1, Made.running("b", 1, 1, 60, 5));
    List<Pod> two = List.of(Made.pod("p0", 1, 1000), Made.pod("p1", 1, 1000));
    List<Pod> three =
        List.of(Made.pod("p0", 1, 1000), Made.pod("p1", 1, 1000), Made.pod("p2", 1, 1000));

    Decision both = chooser.choose(two, List.of(first, second), RULES, NOW);
    assertThat(((Decision.Take) both).rooms())
        .extracting(Decision.Room::node)
        .containsExactlyInAnyOrder("a", "b");
    assertThat(chooser.choose(three, List.of(first, second), RULES, NOW))
        .isInstanceOf(Decision.Nothing.class);
  }

  @Test
  void theBudgetHoldsForAllOfThem() {
    Rules tight = new Rules(100, Duration.ZERO, 1, 2, 8, false, List.of());
    Place node = Made.place("n", 2, Made.running("a", 1, 1, 60, 5), Made.running("b", 1, 1, 60, 5));

    Decision decision = chooser.choose(List.of(Made.pod("p", 2, 1000)), List.of(node), tight, NOW);

    assertThat(((Decision.Nothing) decision).missing().get("n"))
        .contains("it needs 2 victims, and 1 may be taken");
  }

  @Test
  void whatIsPromisedToOthersIsNotFree() {
    Place promised =
        new Place(
            Made.node("n", 2),
            List.of(Made.running("a", 1, 1, 60, 5)),
            Amounts.of(Made.pod("q", 1, 2000)));

    Decision.Take take = take(Made.pod("p", 1, 1000), promised);

    assertThat(take.rooms().get(0).victims()).hasSize(1);
  }

  @Test
  void theSameInputInAnotherOrderGivesTheSameDecision() {
    List<Place> places = new ArrayList<>();
    for (int n = 0; n < 125; n++) {
      Candidate[] pods = new Candidate[8];
      for (int i = 0; i < 8; i++) {
        pods[i] = Made.running("p" + n + "-" + i, 1, (n * 7 + i * 3) % 90, 20 + (n + i) % 50, i);
      }
      places.add(Made.place("n" + n, 8, pods));
    }
    Decision one = chooser.choose(List.of(Made.pod("p", 2, 1000)), places, RULES, NOW);
    List<Place> turned = new ArrayList<>(places);
    java.util.Collections.reverse(turned);

    assertThat(chooser.choose(List.of(Made.pod("p", 2, 1000)), turned, RULES, NOW)).isEqualTo(one);
    assertThat(one).isInstanceOf(Decision.Take.class);
  }

  private Decision.Take take(Pod preemptor, Place... places) {
    Decision decision = chooser.choose(List.of(preemptor), List.of(places), RULES, NOW);
    assertThat(decision).isInstanceOf(Decision.Take.class);
    return (Decision.Take) decision;
  }

  private String nothing(Pod preemptor, Place place) {
    Decision decision = chooser.choose(List.of(preemptor), List.of(place), RULES, NOW);
    assertThat(decision).isInstanceOf(Decision.Nothing.class);
    return String.join("; ", ((Decision.Nothing) decision).missing().values());
  }
}
