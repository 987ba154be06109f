package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code kubectl drain} of a node with a protected pod. */
@ExtendWith(OnACluster.class)
class DrainTest {

  private static final String PATIENTLY = Scenario.PATIENCE.toSeconds() + "s";

  @Test
  void aProtectedPodRunsElsewhereAfterTheDrain(Scenario scenario) {
    Workload workload = protectedPod(scenario);
    String node = workload.now().getSpec().getNodeName();
    try (SharedStore store = SharedStore.make(scenario);
        KeptLog log = KeptLog.follow(scenario, "trainer")) {
      Shell.Result drain = drain(scenario, node, PATIENTLY);

      assertThat(drain.ok()).as(drain.output()).isTrue();
      assertThat(drain.output()).contains("before its eviction");
      GpuRestore restore =
          scenario.await(
              GpuRestore.class,
              onlyCheckpoint(scenario).getMetadata().getName(),
              "has succeeded",
              it -> it.getStatus() != null && it.getStatus().getPhase() == RestorePhase.SUCCEEDED);
      // By its own name, or by another while the evicted pod still ends.
      Workload back = workload.broughtBackAs(RestoreRequest.pod(restore.getStatus()), log.lines());
      assertThat(back.now().getSpec().getNodeName()).isNotEqualTo(node);
      back.verifyGoesOn();
      assertThat(budgets(scenario)).noneMatch(name -> name.contains("evict"));
    } finally {
      scenario.kubectl("uncordon", node);
    }
  }

  @Tag("long")
  @Test
  void podsOfControllersRunElsewhereAfterTheDrain(Scenario scenario) {
    List<String> nodes = scenario.installation().nodes();
    Assumptions.assumeTrue(nodes.size() > 1, "skipped: no other node with GPUs");
    String node = nodes.get(0);
    scenario.label(Map.of("stasis.dev/protect", "enabled"));
    StepFile file = new StepFile(scenario);
    try (SharedStore store = SharedStore.make(scenario);
        PodsSeen seen = PodsSeen.from(scenario)) {
      nodes.stream().skip(1).forEach(other -> scenario.kubectl("cordon", other));
      UnaryOperator<PodBuilder> saved = pod -> isProtected(scenario, file.in(pod));
      scenario.apply(new Controllers(scenario, "served").deployment(1, saved));
      // One failure would fail it.
      scenario.apply(new Controllers(scenario, "trained").job("Never", saved).build());
      scenario.until("both run", () -> ready(scenario).size() == 2);
      ready(scenario).forEach(pod -> Workload.of(scenario, pod.getMetadata().getName()));
      nodes.forEach(each -> scenario.kubectl("uncordon", each));
      awaitWebhook(scenario, node);

      Shell.Result drain = drain(scenario, node, PATIENTLY);

      assertThat(drain.ok()).as(drain.output()).isTrue();
      scenario.until("both are back", () -> succeeded(scenario) == 2);
      scenario.until("both are Ready", () -> ready(scenario).size() == 2);
      for (Pod pod : scenario.pods()) {
        assertThat(pod.getSpec().getNodeName()).isNotEqualTo(node);
        assertThat(pod.getMetadata().getOwnerReferences()).hasSize(1);
        file.verifyCameBack(pod.getMetadata().getName());
      }
      assertThat(seen.most()).as("pods of the controllers at once").isEqualTo(2);
      assertThat(seen.all()).as("each of them twice").isEqualTo(4);
      Job job = Present.in("the Job", scenario.find(Job.class, "trained"));
      assertThat(job.getStatus().getFailed()).isIn(null, 0);
      assertThat(job.getStatus().getConditions()).isEmpty();
    } finally {
      nodes.forEach(each -> scenario.kubectl("uncordon", each));
    }
  }

  @Tag("long")
  @Test
  void anExhaustedBudgetIsRespectedBeforeTheFreeze(Scenario scenario) {
    Workload workload = protectedPod(scenario);
    String node = workload.now().getSpec().getNodeName();
    scenario.apply(
        """
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: keep}
        spec:
          minAvailable: 1
          selector: {matchLabels: {stasis.dev/protect: %s}}
        """
            .formatted(scenario.namespace()));
    scenario.until(
        "the budget counts",
        () ->
            scenario.all(PodDisruptionBudget.class).stream()
                .anyMatch(it -> Integer.valueOf(1).equals(it.getStatus().getCurrentHealthy())));
    try {
      // Long enough for a first request on a busy machine.
      Shell.Result drain = drain(scenario, node, "20s");

      assertThat(drain.ok()).as(drain.output()).isFalse();
      assertThat(drain.output()).contains("PodDisruptionBudget keep");
      assertThat(scenario.kubectl("get", "gckpt", "-o", "name")).isBlank();
      workload.verifyGoesOn();
      assertThat(workload.restarts()).isZero();
    } finally {
      scenario.kubectl("uncordon", node);
    }
  }

  @Tag("long")
  @Test
  void anInterruptedDrainLeavesThePodAsItWas(Scenario scenario) {
    Workload workload = protectedPod(scenario);
    String node = workload.now().getSpec().getNodeName();
    if (scenario.installation().simulated()) {
      // So that it is interrupted before the pod may go.
      scenario.installation().fault(node, "checkpoint", "slow 10000");
    }
    try {
      interrupted(scenario, node);

      scenario.until(
          "the checkpoint is undone",
          () -> {
            var status = onlyCheckpoint(scenario).getStatus();
            return status != null && status.getPhase() == CheckpointPhase.CANCELLED;
          });
      workload.verifyGoesOn();
      assertThat(workload.restarts()).isZero();
      scenario.until(
          "its budget is gone",
          () -> budgets(scenario).stream().noneMatch(name -> name.contains("evict")));
    } finally {
      scenario.kubectl("uncordon", node);
    }
  }

  @Tag("long")
  @Test
  void aDrainCompletesWithoutAnOperator(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: a Deployment starts its operator again at once");
    Workload workload = protectedPod(scenario);
    String node = workload.now().getSpec().getNodeName();
    scenario.installation().operator().kill();
    try {
      Shell.Result drain = drain(scenario, node, "120s");

      assertThat(drain.ok()).as(drain.output()).isTrue();
      assertThat(scenario.findPod("trainer")).isNull();
    } finally {
      scenario.kubectl("uncordon", node);
      scenario.installation().operator().start();
    }
  }

  /** A drain that is ended once the pod is being saved. */
  private static void interrupted(Scenario scenario, String node) {
    ProcessHandle drain;
    try {
      drain =
          new ProcessBuilder(
                  "kubectl",
                  "drain",
                  node,
                  "--force",
                  "--delete-emptydir-data",
                  "--pod-selector=stasis.dev/protect=" + scenario.namespace())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .toHandle();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try {
      scenario.until("the pod is being saved", () -> !checkpoints(scenario).isEmpty());
      assertThat(drain.isAlive()).isTrue();
    } finally {
      drain.destroyForcibly();
    }
  }

  private static Workload protectedPod(Scenario scenario) {
    scenario.label(Map.of("stasis.dev/protect", "enabled"));
    Workload workload = Workload.start(scenario, "trainer", pod -> isProtected(scenario, pod));
    awaitWebhook(scenario, workload.now().getSpec().getNodeName());
    return workload;
  }

  private static PodBuilder isProtected(Scenario scenario, PodBuilder pod) {
    return pod.editMetadata().addToLabels("stasis.dev/protect", scenario.namespace()).endMetadata();
  }

  /** The operator may have been started a moment ago; a dry run does no harm. */
  private static void awaitWebhook(Scenario scenario, String node) {
    scenario.until(
        "the webhook answers",
        () -> drain(scenario, node, "10s", "--dry-run=server").output().contains("is protected"));
  }

  private static List<Pod> ready(Scenario scenario) {
    return scenario.pods().stream().filter(StepFile::isReady).toList();
  }

  private static long succeeded(Scenario scenario) {
    return scenario.all(GpuRestore.class).stream()
        .filter(it -> it.getStatus() != null)
        .filter(it -> it.getStatus().getPhase() == RestorePhase.SUCCEEDED)
        .count();
  }

  /** Of our pod alone: other scenarios may have some on the node. */
  private static Shell.Result drain(
      Scenario scenario, String node, String timeout, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "drain",
                node,
                "--force",
                "--delete-emptydir-data",
                "--pod-selector=stasis.dev/protect=" + scenario.namespace(),
                "--timeout=" + timeout));
    arguments.addAll(List.of(more));
    return scenario.tryKubectl(arguments.toArray(String[]::new));
  }

  private static List<String> budgets(Scenario scenario) {
    return scenario.all(PodDisruptionBudget.class).stream()
        .map(budget -> budget.getMetadata().getName())
        .toList();
  }

  private static GpuCheckpoint onlyCheckpoint(Scenario scenario) {
    List<GpuCheckpoint> all = checkpoints(scenario);
    assertThat(all).hasSize(1);
    return all.get(0);
  }

  private static List<GpuCheckpoint> checkpoints(Scenario scenario) {
    return scenario.all(GpuCheckpoint.class);
  }
}
