package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods that move though they cannot exist twice: the source goes before its target comes. */
@ExtendWith(OnACluster.class)
class SourceFirstTest {

  @Test
  void aStatefulSetsPodMovesUnderItsNameAndNoneStartsCold(Scenario scenario) {
    scenario.needsTwoNodes();
    try (SharedStore store = SharedStore.make(scenario);
        PodsSeen seen = PodsSeen.from(scenario)) {
      scenario.apply(new Controllers(scenario).statefulSet());
      scenario.until("a pod", () -> scenario.pods().size() == 1);
      Workload workload = Workload.of(scenario, "trainer-0");
      String from = workload.now().getSpec().getNodeName();
      GpuMigrationStatus refused =
          MigrationRequest.apply(scenario, "by-default", "trainer-0").await(MigrationPhase.FAILED);
      assertThat(refused.getMessage()).contains("set strategy: Recreate");

      try (KeptLog log = KeptLog.follow(scenario, "trainer-0")) {
        GpuMigrationStatus status = moved(scenario, store, "trainer-0");
        Workload here = workload.broughtBackAs("trainer-0", log.lines());
        here.verifyGoesOn();
        assertThat(here.now().getSpec().getNodeName()).isNotEqualTo(from);
        assertThat(here.restarts()).isZero();
        assertThat(Present.in("status.target", status.getTarget()).name()).isEqualTo("trainer-0");
      }
      scenario.awaitPod("trainer-0", "is Ready", StepFile::isReady);
      assertThat(scenario.pods()).hasSize(1);
      assertThat(seen.most()).as("pods of the controller at once").isEqualTo(1);
      assertThat(seen.all()).as("the source, the target, and no third").isEqualTo(2);
      nothingIsLeft(scenario, store);
    }
  }

  @Tag("long")
  @Test
  void aBarePodMovesUnderItsNameAndStaysWhenTheMigrationIsDeleted(Scenario scenario) {
    scenario.needsTwoNodes();
    try (SharedStore store = SharedStore.make(scenario);
        KeptLog log = KeptLog.follow(scenario, Workload.start(scenario, "trainer").name())) {
      Workload workload = Workload.of(scenario, "trainer");
      String from = workload.now().getSpec().getNodeName();

      GpuMigrationStatus status = moved(scenario, store, "trainer");

      Workload here = workload.broughtBackAs("trainer", log.lines());
      here.verifyGoesOn();
      assertThat(here.now().getSpec().getNodeName()).isNotEqualTo(from);
      assertThat(MigrationRequest.phases(status))
          .containsExactly(
              "Pending",
              "Freezing",
              "Transferring",
              "TargetStarting",
              "Restoring",
              "Verifying",
              "SwitchingOver",
              "Succeeded");
      assertThat(status.getDowntimeMilliseconds()).isPositive();
      assertThat(MigrationRequest.condition(status, "SourceRunning").status())
          .isEqualTo(ConditionValue.FALSE);
      nothingIsLeft(scenario, store);
      scenario.kubectl("delete", "gmig", "move", Scenario.TIMEOUT);
      scenario.until("the GpuRestore is gone", () -> scenario.all(GpuRestore.class).isEmpty());
      here.verifyGoesOn();
      assertThat(here.restarts()).isZero();
    }
  }

  private static GpuMigrationStatus moved(Scenario scenario, SharedStore store, String pod) {
    GpuMigrationStatus status =
        MigrationRequest.apply(
                scenario,
                "move",
                pod,
                "strategy: Recreate",
                "storageRef: {name: " + store.name() + "}")
            .await(MigrationPhase.SUCCEEDED);
    System.out.println("downtime " + status.getDowntime() + " of " + status.getSize());
    return status;
  }

  private static void nothingIsLeft(Scenario scenario, SharedStore store) {
    scenario.until("the GpuCheckpoint is gone", () -> scenario.all(GpuCheckpoint.class).isEmpty());
    Path folder = store.folder().resolve(scenario.namespace());
    scenario.until("no artifact is left", () -> isEmpty(folder));
  }

  private static boolean isEmpty(Path folder) {
    if (!Files.isDirectory(folder)) {
      return true;
    }
    try (Stream<Path> left = Files.list(folder)) {
      return left.allMatch(path -> path.getFileName().toString().startsWith("."));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
