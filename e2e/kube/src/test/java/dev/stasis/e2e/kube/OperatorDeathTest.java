package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The operator dies between what it asked of an agent and the write of the status, and the agent is
 * done before the next operator starts. The lost write is not left to chance: the status is set to
 * what it was in an earlier phase.
 */
@ExtendWith(OnACluster.class)
class OperatorDeathTest {

  @ParameterizedTest
  @EnumSource(names = "STARTING")
  void aRestoreSurvivesTheLossOfAllWritesSince(RestorePhase last, Scenario scenario) {
    survives(last, scenario);
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource(names = {"PENDING", "RESTORING", "VERIFYING"})
  void aRestoreSurvivesTheLossOfAllWritesSinceAnyOtherPhase(RestorePhase last, Scenario scenario) {
    survives(last, scenario);
  }

  private static void survives(RestorePhase last, Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation().simulated(), "skipped: only a simulated GPU is slow on demand");
    Workload workload = Workload.start(scenario, "trainer");
    String node = workload.now().getSpec().getNodeName();
    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();
    Workload back = workload.broughtBackAs("trainer");
    workload.delete();
    // So that the operator is dead before the agent is done.
    scenario.installation().fault(node, "restore", "slow 5000");
    Statuses seen = new Statuses();

    try (var watch =
        scenario
            .admin()
            .resources(GpuRestore.class)
            .inNamespace(scenario.namespace())
            .watch(seen)) {
      assertThat(watch).isNotNull();
      RestoreRequest request = RestoreRequest.apply(scenario, "back", "train-1");
      scenario.until("the agent restores", () -> isAt(scenario, OperationPhase.RUNNING));
      if (last == RestorePhase.VERIFYING) {
        // The operator has to be there for this one.
        scenario.until("a status of phase " + last, () -> seen.of(last) != null || isOver(request));
      }
      scenario.installation().operator().kill();
      scenario.until(
          "the agent is done", () -> isAt(scenario, OperationPhase.SUCCEEDED) || isOver(request));
      // The operation goes after the last write: without it that one was not lost.
      GpuRestoreStatus lost = seen.of(last);
      if (lost != null && isAt(scenario, OperationPhase.SUCCEEDED)) {
        scenario
            .admin()
            .resources(GpuRestore.class)
            .inNamespace(scenario.namespace())
            .withName(request.name())
            .editStatus(
                restore -> {
                  restore.setStatus(lost);
                  return restore;
                });
      }
      scenario.installation().operator().start();

      GpuRestoreStatus status = request.awaitSucceeded();
      assertThat(status.getAttempts()).isEqualTo(1);
    }
    back.verifyGoesOn();
    assertThat(back.restarts()).isZero();
    assertThat(scenario.pods()).hasSize(1);
  }

  private static boolean isOver(RestoreRequest request) {
    RestorePhase phase = request.status().getPhase();
    return phase != null && phase.isFinal();
  }

  /** Whether the agent is at least so far with the restore. */
  private static boolean isAt(Scenario scenario, OperationPhase phase) {
    return scenario.operations().stream()
        .filter(it -> it.getSpec().getType() == OperationType.RESTORE)
        .anyMatch(
            it ->
                it.getStatus() != null
                    && it.getStatus().getPhase() != null
                    && (it.getStatus().getPhase() == phase || it.getStatus().getPhase().isFinal()));
  }

  /** The first status of each phase. */
  private static final class Statuses implements Watcher<GpuRestore> {

    private final Map<RestorePhase, GpuRestoreStatus> first = new ConcurrentHashMap<>();

    @Nullable GpuRestoreStatus of(RestorePhase phase) {
      return first.get(phase);
    }

    @Override
    public void eventReceived(Action action, GpuRestore restore) {
      GpuRestoreStatus status = restore.getStatus();
      if (status != null && status.getPhase() != null) {
        first.putIfAbsent(status.getPhase(), status);
      }
    }

    @Override
    public void onClose(@Nullable WatcherException cause) {}
  }
}
