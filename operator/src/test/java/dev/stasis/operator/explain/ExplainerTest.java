package dev.stasis.operator.explain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.NodeVerdict;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Gpu;
import dev.stasis.compat.GpuSet;
import dev.stasis.compat.Link;
import dev.stasis.compat.Links;
import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Property;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Report;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ExplainerTest {

  private static final Fingerprint HOST =
      Fingerprint.empty()
          .with(Property.CPU_ARCHITECTURE, "amd64")
          .with(Property.KERNEL_VERSION, "6.12")
          .with(Property.CRIU_VERSION, "4.2.1");
  private static final Fingerprint WANTED =
      HOST.and(gpus(1, "NVIDIA H200", "580.105.08").fingerprint())
          .with(Property.IMAGE_DIGEST, "sha256:ab");
  private static final Fault TOO_SHORT =
      new Fault("ProbeTooShort", "p", "w", "f", null, null, "p: expected w, got f");
  private static final Fault NO_ROOM =
      new Fault("NoRoom", "m", "w", "f", null, null, "m: expected w, got f");

  private final Explainer explainer = new Explainer();

  @Test
  void nodesThatFitComeFirstAndEveryOtherSaysWhyNot() {
    NodeVerdicts verdicts =
        NodeVerdicts.of(
            WANTED,
            List.of(
                candidate("a-old-driver", 1, "NVIDIA H200", "570.10"),
                candidate("b-none", 0, "NVIDIA H200", "580.105.08"),
                new Candidate(
                    "c-cordoned",
                    new NodeFacts(gpus(1, "NVIDIA H200", "580.105.08"), HOST),
                    List.of("node: expected a schedulable one, got a cordoned one")),
                candidate("d-good", 8, "NVIDIA H200", "580.105.08")));

    assertThat(verdicts.all())
        .containsExactly(
            new NodeVerdict("d-good", true, null),
            new NodeVerdict(
                "a-old-driver", false, List.of("gpu.driver: expected 580.105.08, got 570.10")),
            new NodeVerdict("b-none", false, List.of("gpu.count: expected 1, got 0")),
            new NodeVerdict(
                "c-cordoned",
                false,
                List.of("node: expected a schedulable one, got a cordoned one")));
    assertThat(verdicts.sentence()).isEqualTo("1 of 4 nodes fit");
  }

  @Test
  void aSoftMismatchIsNamedAndFits() {
    NodeFacts older =
        new NodeFacts(
            gpus(1, "NVIDIA H200", "580.105.08"), HOST.with(Property.KERNEL_VERSION, "6.1"));

    assertThat(NodeVerdicts.of(WANTED, List.of(new Candidate("n", older, List.of()))).all())
        .containsExactly(
            new NodeVerdict("n", true, List.of("kernel.version: expected at least 6.12, got 6.1")));
  }

  @Test
  void aNodeWithoutIoUringIsNoPlaceForAWorkloadWithARingOnly() {
    Fingerprint strict = HOST.with(Property.IO_URING, "no");
    List<Candidate> candidates =
        List.of(
            new Candidate(
                "n", new NodeFacts(gpus(1, "NVIDIA H200", "580.105.08"), strict), List.of()));

    assertThat(NodeVerdicts.of(WANTED, candidates).fit()).isEqualTo(1);
    assertThat(NodeVerdicts.of(WANTED.with(Property.IO_URING, "yes"), candidates).all())
        .containsExactly(
            new NodeVerdict("n", false, List.of("kernel.ioUring: expected yes, got no")));
  }

  /** They are compared once, and each keeps what is against it alone. */
  @Test
  void nodesWithTheSameFactsHaveTheirOwnReasons() {
    NodeFacts older = new NodeFacts(gpus(1, "NVIDIA H200", "570.10"), HOST);
    String driver = "gpu.driver: expected 580.105.08, got 570.10";
    NodeVerdicts verdicts =
        NodeVerdicts.of(
            WANTED,
            List.of(
                new Candidate("a", older, List.of("node: cordoned")),
                new Candidate("b", older, List.of()),
                new Candidate("c", older, List.of("agent: silent"))));

    assertThat(verdicts.all())
        .containsExactly(
            new NodeVerdict("a", false, List.of("node: cordoned", driver)),
            new NodeVerdict("b", false, List.of(driver)),
            new NodeVerdict("c", false, List.of("agent: silent", driver)));
  }

  /** A status that only has their number needs no reasons against the others. */
  @Test
  void theMatcherFindsTheNodesWithAVerdictThatTheyFit() {
    List<Candidate> candidates =
        List.of(
            candidate("a-new-driver", 1, "NVIDIA H200", "580.105.08"),
            candidate("b-new-driver", 1, "NVIDIA H200", "580.105.08"),
            candidate("c-old-driver", 1, "NVIDIA H200", "570.10"),
            candidate("d-none", 0, "NVIDIA H200", "580.105.08"),
            new Candidate(
                "e-cordoned",
                new NodeFacts(gpus(1, "NVIDIA H200", "580.105.08"), HOST),
                List.of("node: cordoned")));
    NodeMatcher matcher = new NodeMatcher();

    for (Fingerprint wanted : List.of(WANTED, WANTED.with(Property.GPU_DRIVER, "570.10"), WANTED)) {
      assertThat(matcher.fitting(wanted.text(), candidates.stream()).map(Candidate::name))
          .isNotEmpty()
          .containsExactlyElementsOf(
              NodeVerdicts.of(wanted, candidates).all().stream()
                  .filter(NodeVerdict::fits)
                  .map(NodeVerdict::node)
                  .toList());
    }
  }

  @Test
  void aStatusListsAHundredNodesAndCountsAll() {
    NodeVerdicts verdicts =
        NodeVerdicts.of(
            WANTED,
            IntStream.range(0, 500)
                .mapToObj(i -> candidate("n" + i, 1, i < 11 ? "NVIDIA H200" : "L4", "580.105.08"))
                .toList());

    assertThat(verdicts.sentence()).isEqualTo("11 of 500 nodes fit");
    assertThat(verdicts.listed()).hasSize(100);
    assertThat(verdicts.listed().subList(0, 11)).allMatch(NodeVerdict::fits);
  }

  @Test
  void withoutAFaultItIsFeasibleWithItsForecast() {
    GpuCheckpointStatus status =
        written(new LivenessVerdict.Fits(Optional.empty()), new RoomPlan.NoResizeNeeded());

    assertThat(conditions(status))
        .containsExactly(
            "Feasible=True Feasible: about 48.9Gi, 14.1s frozen",
            "Restorable=True NodesFit: 1 of 1 node fits");
    assertThat(status.getFaults()).isNull();
    assertThat(Objects.requireNonNull(status.getExplanation()).dataPath())
        .isEqualTo(DataPath.MOVER);
  }

  @Test
  void everyReasonAgainstItIsSaidOnce() {
    GpuCheckpointStatus status =
        written(
            new LivenessVerdict.TooShort(List.of(TOO_SHORT)),
            new RoomPlan.Refused(List.of(NO_ROOM, TOO_SHORT)));

    assertThat(status.getFaults()).containsExactly(TOO_SHORT, NO_ROOM);
    assertThat(conditions(status))
        .contains("Feasible=False PreflightRefused: p: expected w, got f; m: expected w, got f")
        .noneMatch(condition -> condition.startsWith("Failed"));
  }

  private GpuCheckpointStatus written(LivenessVerdict liveness, RoomPlan room) {
    Explanation agent =
        new Explanation(
            null,
            null,
            52505706496L,
            null,
            null,
            null,
            DataPath.MOVER,
            "every region can be moved");
    Explainer.Findings findings =
        new Explainer.Findings(
            Optional.of(agent),
            List.of(),
            Duration.ofMillis(14100),
            liveness,
            room,
            NodeVerdicts.of(WANTED, List.of(candidate("n", 1, "NVIDIA H200", "580.105.08"))));
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    Clock clock = Clock.fixed(Instant.parse("2026-11-21T10:00:00Z"), ZoneOffset.UTC);
    explainer.write(findings, status, new Report(status, ConditionType.READY, 1, clock));
    return status;
  }

  private static List<String> conditions(GpuCheckpointStatus status) {
    return Objects.requireNonNull(status.getConditions()).stream()
        .map(ExplainerTest::text)
        .toList();
  }

  private static String text(Condition condition) {
    return condition.type()
        + "="
        + condition.status()
        + " "
        + condition.reason()
        + ": "
        + condition.message();
  }

  private static Candidate candidate(String name, int count, String model, String driver) {
    return new Candidate(name, new NodeFacts(gpus(count, model, driver), HOST), List.of());
  }

  private static GpuSet gpus(int count, String model, String driver) {
    return new GpuSet(
        driver,
        Collections.nCopies(count, new Gpu(model, 143771, "9.0", false)),
        Links.alike(count, Link.nvlink(18)));
  }
}
