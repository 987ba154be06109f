package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A workload that is evicted is saved first, then its pod is removed, and only then it ends. */
@ExtendWith(OnACluster.class)
class EvictTest {

  /** Sees every restart that the pod's status ever tells. */
  private static final class Restarts implements Watcher<Pod> {
    final AtomicInteger most = new AtomicInteger();

    @Override
    public void eventReceived(Action action, Pod pod) {
      pod.getStatus()
          .getContainerStatuses()
          .forEach(status -> most.accumulateAndGet(status.getRestartCount(), Math::max));
    }

    private volatile @Nullable WatcherException broken;

    @Override
    public void onClose(@Nullable WatcherException cause) {
      broken = cause;
    }

    /** Fails when the watch ended early, as it may have missed a restart. */
    void verifyNone() {
      assertThat(broken).as("end of the watch of the pod").isNull();
      assertThat(most).as("restarts of the pod").hasValue(0);
    }
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"OnFailure", "Never"})
  void anEvictedPodOfAnyOtherRestartPolicyNeverStartsAgain(String policy, Scenario scenario) {
    anEvictedPodNeverStartsAgain(policy, scenario);
  }

  @ParameterizedTest
  @ValueSource(strings = "Always")
  void anEvictedPodNeverStartsAgain(String policy, Scenario scenario) {
    // Its sockets are bound to the pod's address, which is another one after the restore.
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            pod ->
                pod.editSpec()
                    .withRestartPolicy(policy)
                    .editFirstContainer()
                    .addToArgs("--own-address")
                    .endContainer()
                    .endSpec());
    Restarts restarts = new Restarts();
    try (KeptLog words = KeptLog.follow(scenario, "trainer");
        var watch =
            scenario
                .admin()
                .pods()
                .inNamespace(scenario.namespace())
                .withName("trainer")
                .watch(restarts)) {
      assertThat(watch).isNotNull();
      CheckpointRequest request =
          CheckpointRequest.apply(scenario, "train-1", "trainer", "afterCheckpoint: Evict");
      GpuCheckpointStatus status = request.awaitReady();
      scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
      restarts.verifyNone();
      assertThat(CheckpointRequest.condition(status, "SourceRunning").reason())
          .isEqualTo("Evicted");

      Workload back = workload.broughtBackAs("trainer", words.lines());
      RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();
      back.verifyGoesOn();
      restarts.verifyNone();
    }
  }

  /** The role view reads statuses and pods, but no Secret. */
  @Tag("long")
  @Test
  void aSecretInTheCommandLineIsInNoStatusAndNoPod(Scenario scenario) {
    String value = "s3cret-" + UUID.randomUUID();
    scenario.apply(
        """
        apiVersion: v1
        kind: Secret
        metadata:
          name: hub
        stringData:
          token: %s
        """
            .formatted(value));
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            pod ->
                pod.editSpec()
                    .editFirstContainer()
                    .withCommand("/bin/sh", "-c")
                    .withArgs(
                        "exec /bin/gpu-counter --mib " + Workload.MIB + " --interval-ms 100",
                        "--token=$(TOKEN)")
                    .addNewEnv()
                    .withName("TOKEN")
                    .withNewValueFrom()
                    .withNewSecretKeyRef("token", "hub", false)
                    .endValueFrom()
                    .endEnv()
                    .endContainer()
                    .endSpec());
    try (KeptLog words = KeptLog.follow(scenario, "trainer")) {
      CheckpointRequest.apply(scenario, "train-1", "trainer", "afterCheckpoint: Evict")
          .awaitReady();
      scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
      Workload back = workload.broughtBackAs("trainer", words.lines());
      RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();
      back.verifyGoesOn();
    }

    assertThat(scenario.kubectl("get", "gckpt,grst,pods,events", "-o", "yaml"))
        .contains("--token=$(TOKEN)")
        .doesNotContain(value);
    assertThat(scenario.kubectl("get", "gpunodeoperations", "-A", "-o", "yaml"))
        .doesNotContain(value);
    // The first process is the holder, which starts the workload if it ends: with the right value.
    assertThat(scenario.exec("trainer", "cat", "/proc/1/cmdline").output())
        .contains("stasis-runtime", "--token=" + value);
  }

  @Test
  void theOnlyCopyOfAnEvictedWorkloadIsNotDeleted(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer", "afterCheckpoint: Evict").awaitReady();
    scenario.until("the pod is gone", () -> scenario.findPod(workload.name()) == null);

    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    scenario.awaitEvent("ArtifactRetained");
  }

  @Test
  void aDisruptionBudgetIsRespectedBeforeTheFreeze(Scenario scenario) {
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            pod -> pod.editMetadata().addToLabels("app", "trainer").endMetadata());
    scenario.apply(
        """
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata:
          name: keep
        spec:
          minAvailable: 1
          selector:
            matchLabels:
              app: trainer
        """);
    scenario.until(
        "the budget counts",
        () ->
            scenario.all(PodDisruptionBudget.class).stream()
                .anyMatch(it -> Integer.valueOf(1).equals(it.getStatus().getCurrentHealthy())));

    CheckpointRequest request =
        CheckpointRequest.apply(scenario, "train-1", "trainer", "afterCheckpoint: Evict");

    scenario.until(
        "the status says who refuses",
        () ->
            CheckpointRequest.condition(request.status(), "Ready")
                .reason()
                .equals("EvictionRefused"));
    workload.verifyGoesOn();
    assertThat(CheckpointRequest.phases(request.status())).containsExactly("Pending");

    scenario.kubectl("delete", "pdb", "keep");
    request.awaitReady();
    scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
  }
}
