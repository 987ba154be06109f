package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.OperationType;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever is deleted, no workload stays frozen and no pod goes that should not. */
@ExtendWith(OnACluster.class)
class DeletionTest {

  @Test
  void aDeletedCheckpointInProgressIsRolledBackAndRemoved(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    slowly(scenario, workload);
    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    request.await(CheckpointPhase.FREEZING);

    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    nothingIsLeft(scenario);
  }

  @Tag("long")
  @Test
  void aCancelledCheckpointLeavesTheWorkloadRunning(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    slowly(scenario, workload);
    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", "trainer");
    request.await(CheckpointPhase.FREEZING);

    scenario.kubectl(
        "patch",
        "gckpt",
        "train-1",
        "--type=merge",
        "--patch",
        "{\"spec\":{\"options\":{\"cancel\":true}}}");

    var status = request.await(CheckpointPhase.CANCELLED);
    assertThat(CheckpointRequest.condition(status, "SourceRunning").status())
        .isEqualTo(ConditionValue.TRUE);
    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
  }

  @Tag("long")
  @Test
  void aSuspendedPodIsResumedBeforeItsCheckpointIsDeleted(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "pause", "trainer", "afterCheckpoint: Suspend")
        .await(CheckpointPhase.SUSPENDED);

    scenario.kubectl("delete", "gckpt", "pause", Scenario.TIMEOUT);

    workload.verifyGoesOn();
    assertThat(workload.restarts()).isZero();
    nothingIsLeft(scenario);
  }

  @Tag("long")
  @Test
  void deletingAReadyCheckpointDeletesItsArtifact(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();

    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    workload.verifyGoesOn();
    nothingIsLeft(scenario);
    if (scenario.installation() instanceof LocalInstallation local) {
      assertThat(local.artifacts(scenario.namespace())).isEmpty();
    }
  }

  /** Each of them once went on for ever, at two operations per second. */
  @Test
  void aDamagedArtifactIsDeletedWithItsCheckpoint(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: an artifact is damaged on a node of this machine");
    LocalInstallation local = (LocalInstallation) scenario.installation();
    Workload workload = Workload.start(scenario, "trainer");
    Map<DamagedArtifact, Path> artifacts = new EnumMap<>(DamagedArtifact.class);
    for (DamagedArtifact damage : DamagedArtifact.values()) {
      List<Path> before = local.artifacts(scenario.namespace());
      CheckpointRequest.apply(scenario, damage.checkpoint(), "trainer").awaitReady();
      List<Path> after = new ArrayList<>(local.artifacts(scenario.namespace()));
      after.removeAll(before);
      artifacts.put(damage, after.get(0));
    }
    artifacts.forEach(DamagedArtifact::damage);
    Deletions deletions = new Deletions(scenario.namespace());

    try (var watch =
        scenario
            .admin()
            .resources(GpuNodeOperation.class)
            .inNamespace(scenario.installation().namespace())
            .watch(deletions)) {
      assertThat(watch).isNotNull();
      scenario.kubectl("delete", "gckpt", "--all", Scenario.TIMEOUT);
    }

    assertThat(deletions.count).as("operations").hasValueLessThan(2 * artifacts.size());
    assertThat(artifacts.values()).as("artifacts").noneMatch(DamagedArtifact::isLeft);
    nothingIsLeft(scenario);
    workload.verifyGoesOn();
  }

  /** Counts the orders to delete an artifact of a namespace. */
  private record Deletions(String namespace, AtomicInteger count)
      implements Watcher<GpuNodeOperation> {

    Deletions(String namespace) {
      this(namespace, new AtomicInteger());
    }

    @Override
    public void eventReceived(Action action, GpuNodeOperation operation) {
      if (action == Action.ADDED
          && operation.getSpec().getType() == OperationType.DELETE_ARTIFACT
          && namespace.equals(operation.getSpec().getRequester().namespace())) {
        count.incrementAndGet();
      }
    }

    @Override
    public void onClose(@Nullable WatcherException cause) {}
  }

  @Tag("long")
  @Test
  void aRestoredPodStaysWhenItsRestoreIsDeleted(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();
    RestoreRequest.apply(scenario, "back", "train-1").awaitSucceeded();

    scenario.kubectl("delete", "grst", "back", Scenario.TIMEOUT);
    scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);

    Pod pod = back.now();
    assertThat(pod.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(pod.getMetadata().getOwnerReferences()).isEmpty();
    back.verifyGoesOn();
  }

  @Test
  void aNamespaceWithRequestsInProgressCanBeDeleted(Scenario scenario) {
    Workload workload = Workload.start(scenario, "trainer");
    slowly(scenario, workload);
    CheckpointRequest.apply(scenario, "train-1", "trainer").await(CheckpointPhase.FREEZING);

    scenario.kubectl("delete", "namespace", scenario.namespace(), Scenario.TIMEOUT);

    nothingIsLeft(scenario);
  }

  private static void slowly(Scenario scenario, Workload workload) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU is slow on demand");
    // Long enough to be seen at work, on any machine.
    scenario
        .installation()
        .fault(workload.now().getSpec().getNodeName(), "checkpoint", "slow 10000");
  }

  private static void nothingIsLeft(Scenario scenario) {
    scenario.until("operations of this namespace are gone", () -> scenario.operations().isEmpty());
  }
}
