package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What only its own pod can take is never evicted, and what another pod can take is restored. */
@ExtendWith(OnACluster.class)
class NotPortableTest {

  private static final String OBSTACLE = "mount made inside";

  @Test
  void aWorkloadThatNoOtherPodCanTakeStaysInItsPod(Scenario scenario) {
    Workload workload =
        Workload.start(
            scenario,
            "trainer",
            pod ->
                pod.editSpec()
                    .editFirstContainer()
                    .addToCommand("--odd", "/data/odd")
                    .withNewSecurityContext()
                    .withNewCapabilities()
                    .addToAdd("SYS_ADMIN")
                    .endCapabilities()
                    .endSecurityContext()
                    .endContainer()
                    .endSpec());
    scenario.exec("trainer", "sh", "-c", "echo tmpfs /data/inside >/data/odd");
    scenario.until(
        "the workload has mounted something",
        () -> scenario.exec("trainer", "cat", "/data/odd.answers").output().contains("tmpfs done"));

    GpuCheckpointStatus told =
        CheckpointRequest.apply(scenario, "why", "trainer", "options: {dryRun: true}")
            .await(CheckpointPhase.EXPLAINED);
    assertNotRestorable(told);
    Explanation explanation = Present.in("status.explanation", told.getExplanation());
    List<Fault> obstacles = Present.in("notPortable", explanation.notPortable());
    assertThat(obstacles).extracting(Fault::property).containsExactly(OBSTACLE);
    assertThat(CheckpointRequest.condition(told, "Feasible").status())
        .isEqualTo(ConditionValue.TRUE);

    GpuCheckpointStatus evicted =
        CheckpointRequest.apply(scenario, "leave", "trainer", "afterCheckpoint: Evict")
            .await(CheckpointPhase.FAILED);
    assertThat(CheckpointRequest.faults(evicted)).isEqualTo(obstacles);
    assertThat(CheckpointRequest.phases(evicted)).doesNotContain("Freezing");
    assertThat(evicted.getArtifact()).isNull();
    workload.verifyGoesOn();

    GpuCheckpointStatus stays = CheckpointRequest.apply(scenario, "stay", "trainer").awaitReady();
    assertNotRestorable(stays);
    assertThat(CheckpointRequest.condition(stays, "Restorable").message())
        .isEqualTo(CheckpointRequest.condition(told, "Restorable").message());
    RestoreRequest restore = RestoreRequest.apply(scenario, "back", "stay");
    scenario.until(
        "the restore is refused", () -> "NotPortable".equals(restore.status().getReason()));
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    assertThat(scenario.pods()).hasSize(1);
  }

  private static void assertNotRestorable(GpuCheckpointStatus status) {
    Condition restorable = CheckpointRequest.condition(status, "Restorable");
    assertThat(restorable.status()).isEqualTo(ConditionValue.FALSE);
    assertThat(restorable.reason()).isEqualTo("NotPortable");
    assertThat(restorable.message()).contains(OBSTACLE, "tmpfs at /data/inside");
  }

  @Tag("long")
  @Test
  void anEmptyDirMountedWholeAndByASubPathIsRestored(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer", NotPortableTest::withSubPath);
    scenario.exec("trainer", "sh", "-c", "echo written before >/part/file");
    try (KeptLog words = KeptLog.follow(scenario, "trainer")) {
      CheckpointRequest.apply(scenario, "train-1", "trainer", "afterCheckpoint: Evict")
          .awaitReady();
      scenario.until("the pod is gone", () -> scenario.findPod("trainer") == null);
      Workload back = workload.broughtBackAs("trainer", words.lines());
      RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();
      back.verifyGoesOn();
    }
    assertThat(scenario.exec("trainer", "cat", "/cache/in/part/file").output())
        .contains("written before");
    scenario.exec("trainer", "sh", "-c", "echo written after >/cache/in/part/file");
    assertThat(scenario.exec("trainer", "cat", "/part/file").output()).contains("written after");
  }

  private static PodBuilder withSubPath(PodBuilder pod) {
    return pod.editSpec()
        .addNewVolume()
        .withName("cache")
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
        .editFirstContainer()
        .addNewVolumeMount()
        .withName("cache")
        .withMountPath("/cache")
        .endVolumeMount()
        .addNewVolumeMount()
        .withName("cache")
        .withMountPath("/part")
        .withSubPath("in/part")
        .endVolumeMount()
        .endContainer()
        .endSpec();
  }
}
