package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.PhaseTime;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A schedule of the shortest period there is: a run every minute. */
@ExtendWith(OnACluster.class)
class ScheduleTest {

  /** Of a kubelet that does not answer nothing comes for long: this shows that nothing happens. */
  private static final Duration WHILE_CUT_OFF = Duration.ofSeconds(8);

  /** The only one that waits for a whole minute. */
  @Tag("long")
  @Test
  void aRunIsTakenEachMinuteUntilTheScheduleIsPaused(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer", pod -> saved(scenario, pod));
    Often often = new Often(scenario);
    often.apply("");

    scenario.until("two runs are Ready", () -> often.ready().size() > 1);
    often.pause();

    assertThat(often.ready()).hasSizeBetween(2, 3);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Test
  void aKilledPodIsRestoredFromItsNewestUndamagedCheckpoint(Scenario scenario) throws IOException {
    LocalInstallation local = local(scenario);
    Workload workload = Workload.start(scenario, "trainer", pod -> saved(scenario, pod));
    String uid = workload.now().getMetadata().getUid();
    Often often = new Often(scenario);
    often.apply("");
    often.pause();
    often.asIfTaken("first", workload.now());
    often.asIfTaken("second", workload.now());
    String newest = newest(scenario);
    damage(local, scenario, newest);

    often.killAll();

    scenario.until("it is back", () -> isReady(scenario.findPod("trainer"), uid));
    new StepFile(scenario).verifyCameBack("trainer");
    assertThat(scenario.pod("trainer").getMetadata().getLabels())
        .containsKey("stasis.dev/checkpoint")
        .doesNotContainEntry("stasis.dev/checkpoint", newest);
    String skipped =
        scenario.kubectl(
            "get",
            "events",
            "--field-selector=reason=CheckpointSkipped",
            "-o",
            "jsonpath={.items[*].message}");
    assertThat(skipped).contains(newest + ": damaged");
    assertThat(often.says(".status.restores[*].skipped")).contains(newest + ": damaged");
  }

  @Tag("long")
  @Test
  void aDeploymentsPodThatStartedColdIsReplacedByTheOneThatItsControllerMakes(Scenario scenario) {
    local(scenario);
    try (PodsSeen seen = PodsSeen.from(scenario)) {
      scenario.apply(
          new Controllers(scenario).deployment(1, pod -> new StepFile(scenario).in(pod)));
      scenario.until("a pod", () -> scenario.pods().size() == 1);
      Pod source = scenario.pods().get(0);
      String name = source.getMetadata().getName();
      Workload workload = Workload.of(scenario, name);
      Often often = new Often(scenario);
      often.apply("");
      often.pause();
      often.asIfTaken("first", source);
      workload.awaitSteps(3);

      often.killAll();

      scenario.until(
          "the next pod has taken its place",
          () ->
              scenario.pods().stream().anyMatch(it -> isReady(it, source.getMetadata().getUid())));
      assertThat(scenario.pods()).hasSize(1);
      String back = scenario.pods().get(0).getMetadata().getName();
      new StepFile(scenario).verifyCameBack(back);
      assertThat(seen.most()).as("pods of the Deployment at once").isEqualTo(1);
      assertThat(seen.all()).as("the source, the target, and no third").isEqualTo(2);
    }
  }

  /**
   * By the moment whose state it keeps: a run may be due before the first one is taken. Times have
   * whole seconds; of two that were frozen in the same one the operator takes the later name.
   */
  private static String newest(Scenario scenario) {
    return new Often(scenario)
        .ready().stream()
            .max(
                Comparator.comparing(ScheduleTest::frozen)
                    .thenComparing(it -> it.getMetadata().getCreationTimestamp())
                    .thenComparing(it -> it.getMetadata().getName()))
            .map(it -> it.getMetadata().getName())
            .orElseThrow();
  }

  private static Instant frozen(GpuCheckpoint one) {
    return Present.in("status.phases", one.getStatus().getPhases()).stream()
        .filter(entered -> entered.phase() == CheckpointPhase.FREEZING)
        .map(PhaseTime::time)
        .findFirst()
        .orElseThrow();
  }

  /** A bit of what was in the GPU; where nothing but zeros was, nothing is kept. */
  private static void damage(LocalInstallation local, Scenario scenario, String checkpoint)
      throws IOException {
    String uid =
        Present.in("GpuCheckpoint", scenario.find(GpuCheckpoint.class, checkpoint))
            .getMetadata()
            .getUid();
    Path artifact =
        local.artifacts(scenario.namespace()).stream()
            .filter(it -> it.getFileName().toString().endsWith(uid))
            .findFirst()
            .orElseThrow();
    Path regions;
    try (Stream<Path> files = Files.list(artifact.resolve("regions"))) {
      regions = files.filter(it -> it.toString().endsWith(".data")).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(regions);
    int kept = 0;
    while (bytes[kept] == 0) {
      kept++;
    }
    bytes[kept] ^= 1;
    Files.write(regions, bytes);
  }

  @Tag("long")
  @Test
  void aPodOnAPartitionedNodeNeverRunsTwice(Scenario scenario) {
    LocalInstallation local = local(scenario);
    String node = local.nodes().get(0);
    try (SharedStore store = SharedStore.make(scenario)) {
      Workload workload =
          Workload.start(scenario, "trainer", pod -> on(node, saved(scenario, pod)));
      Often often = new Often(scenario);
      often.apply("  checkpoint: {storageRef: {name: %s}}\n".formatted(store.name()));
      often.pause();
      often.asIfTaken("first", workload.now(), "storageRef: {name: " + store.name() + "}");
      String uid = workload.now().getMetadata().getUid();

      local.cutOff(node);
      try {
        scenario.until(
            "the cluster gives the pod up",
            () -> oneCopy(scenario) && leaves(scenario.findPod("trainer")));
        scenario.until(
            "it waits to be brought back",
            () -> often.says(".status.restores[*].pod").contains("trainer"));
        Awaitility.await("nobody starts another copy")
            .during(WHILE_CUT_OFF)
            .atMost(Scenario.PATIENCE)
            .until(
                () ->
                    oneCopy(scenario)
                        && scenario.pods().isEmpty()
                        && often.processes().count() == 1);
        assertThat(scenario.pod("trainer").getMetadata().getUid()).isEqualTo(uid);
      } finally {
        local.heal(node);
      }
      scenario.until(
          "it is back", () -> oneCopy(scenario) && isReady(scenario.findPod("trainer"), uid));
      new StepFile(scenario).verifyCameBack("trainer");
      assertThat(often.processes().count()).isEqualTo(1);
    }
  }

  private static LocalInstallation local(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: no test damages disks or kubelets of a cluster that is not its own");
    return (LocalInstallation) scenario.installation();
  }

  private static PodBuilder saved(Scenario scenario, PodBuilder pod) {
    return new StepFile(scenario)
        .in(pod)
        .editMetadata()
        .addToLabels("app", "trainer")
        .endMetadata()
        .editSpec()
        .withRestartPolicy("Never")
        .endSpec();
  }

  private static PodBuilder on(String node, PodBuilder pod) {
    return pod.editSpec()
        .addToNodeSelector("kubernetes.io/hostname", node)
        .withTolerations(
            Stream.of("not-ready", "unreachable")
                .map(
                    each ->
                        new TolerationBuilder()
                            .withKey("node.kubernetes.io/" + each)
                            .withOperator("Exists")
                            .withEffect("NoExecute")
                            .withTolerationSeconds(1L)
                            .build())
                .toList())
        .endSpec();
  }

  private static boolean leaves(@Nullable Pod pod) {
    return pod != null && pod.getMetadata().getDeletionTimestamp() != null;
  }

  private static boolean isReady(@Nullable Pod pod, @Nullable String notUid) {
    return pod != null && StepFile.isReady(pod) && !pod.getMetadata().getUid().equals(notUid);
  }

  private static boolean oneCopy(Scenario scenario) {
    assertThat(new Often(scenario).processes().count())
        .as("copies of the workload")
        .isLessThanOrEqualTo(1);
    return true;
  }
}
