package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * As {@link MigrationFaultMatrix}, where the source goes before its target comes: one copy runs at
 * the end, and none has begun cold. {@code bin/e2e SourceFirstFaultMatrix}.
 */
@ExtendWith(OnACluster.class)
class SourceFirstFaultMatrix {

  private static final String POD = "trainer";

  private static final List<MigrationPhase> PHASES =
      List.of(
          MigrationPhase.FREEZING,
          MigrationPhase.TRANSFERRING,
          MigrationPhase.TARGET_STARTING,
          MigrationPhase.RESTORING);

  private static final FaultTable TABLE =
      new FaultTable(Path.of("target/source-first-faults.md"), PHASES);

  static Stream<Arguments> everything() {
    // Nothing is written to the target's own disk.
    return TABLE.cells(fault -> fault != MigrationFault.TARGET_DISK_FULL);
  }

  @ParameterizedTest
  @MethodSource("everything")
  void oneCopyRunsAtTheEnd(MigrationFault fault, MigrationPhase during, Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation
            && scenario.installation().nodes().size() > 1,
        "skipped: it takes two nodes of this machine");
    LocalInstallation local = (LocalInstallation) scenario.installation();
    try (SharedStore store = SharedStore.make(scenario)) {
      Workload source = Workload.start(scenario, POD);
      Pod was = source.now();
      String from = was.getSpec().getNodeName();
      String to = local.nodes().stream().filter(it -> !it.equals(from)).findFirst().orElseThrow();
      // So that each phase lasts until somebody has looked.
      local.fault(from, "checkpoint", "slow 2500");
      local.fault(to, "restore", "slow 2500");
      MigrationRequest request =
          MigrationRequest.apply(
              scenario,
              "move",
              POD,
              "strategy: Recreate",
              "storageRef: {name: " + store.name() + "}");

      request.awaitEntered(during);
      GpuMigrationStatus struck = request.status();
      Runnable undo =
          fault.strikeAndUndo(new MigrationFault.Site(scenario, local, request, source, from, to));
      try {
        request.awaitLateEnd();
      } finally {
        undo.run();
      }
      GpuMigrationStatus end = request.awaitEnd();
      local.clearFaults();

      scenario.until("one pod is left, or none", () -> scenario.pods().size() <= 1);
      String how =
          scenario.pods().isEmpty() ? gone(fault, end) : running(scenario, fault, end, source, was);
      TABLE.write(fault, during, FaultTable.cell(during, struck, end) + how);
    }
  }

  /** Only where its user wanted that, or where it died with its node. */
  private static String gone(MigrationFault fault, GpuMigrationStatus end) {
    boolean wanted =
        fault == MigrationFault.SOURCE_POD_DELETED
            || fault == MigrationFault.TARGET_POD_DELETED
                && end.getPhase() == MigrationPhase.SUCCEEDED;
    assertThat(wanted || fault.dies() != MigrationFault.Dies.NOBODY).as("a copy runs").isTrue();
    return ", and gone with it";
  }

  private static String running(
      Scenario scenario, MigrationFault fault, GpuMigrationStatus end, Workload source, Pod was) {
    Pod now = scenario.pods().get(0);
    boolean same = now.getMetadata().getUid().equals(was.getMetadata().getUid());
    if (same && fault.dies() == MigrationFault.Dies.SOURCE) {
      scenario.until("its kubelet has started it again", () -> source.restarts() > 0);
    }
    Workload here = Workload.of(scenario, POD);
    if (fault.dies() != MigrationFault.Dies.NOBODY && here.restarts() > 0) {
      // It ran there when its node died, and its kubelet has started it anew.
      return ", and gone with it";
    }
    if (same) {
      assertThat(end.getPhase()).isNotEqualTo(MigrationPhase.SUCCEEDED);
      source.verifyGoesOn();
      assertThat(source.restarts()).isZero();
      return "";
    }
    here.verifyGoesOnHere();
    assertThat(here.someSteps().get(0)).as("its first step").doesNotStartWith("step 1 ");
    assertThat(here.restarts()).isZero();
    return "";
  }
}
