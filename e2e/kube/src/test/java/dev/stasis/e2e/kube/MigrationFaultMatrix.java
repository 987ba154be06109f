package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Everything that goes wrong, at every phase of a migration, with real processes on two kubelets:
 * one copy runs at the end, whole, and no other. Takes too long for every day: {@code bin/e2e
 * MigrationFaultMatrix}; STASIS_E2E_FAULTS names some of {@link MigrationFault}, with commas.
 * Writes a table as it goes.
 */
@ExtendWith(OnACluster.class)
class MigrationFaultMatrix {

  private static final List<MigrationPhase> PHASES =
      List.of(
          MigrationPhase.TARGET_STARTING,
          MigrationPhase.FREEZING,
          MigrationPhase.TRANSFERRING,
          MigrationPhase.RESTORING,
          MigrationPhase.SWITCHING_OVER);

  private static final FaultTable TABLE =
      new FaultTable(Path.of("target/migration-faults.md"), PHASES);

  static Stream<Arguments> everything() {
    return TABLE.cells(fault -> true);
  }

  @ParameterizedTest
  @MethodSource("everything")
  void oneCopyRunsAtTheEnd(MigrationFault fault, MigrationPhase during, Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation
            && scenario.installation().nodes().size() > 1,
        "skipped: it takes two nodes of this machine");
    LocalInstallation local = (LocalInstallation) scenario.installation();
    Workload source = Workload.start(scenario, "trainer");
    // Its pod may be gone by the time that the test sees its phase.
    try (KeptLog log = KeptLog.follow(scenario, source.name())) {
      strike(fault, during, scenario, local, source, log);
    }
  }

  private static void strike(
      MigrationFault fault,
      MigrationPhase during,
      Scenario scenario,
      LocalInstallation local,
      Workload source,
      KeptLog log) {
    String from = source.now().getSpec().getNodeName();
    String to = local.nodes().stream().filter(node -> !node.equals(from)).findFirst().orElseThrow();
    // So that each phase lasts until somebody has looked.
    local.fault(from, "checkpoint", "slow 2500");
    local.fault(to, "restore", "slow 2500");
    MigrationRequest request =
        MigrationRequest.apply(scenario, "move", "trainer", "options: {bandwidthLimit: 4Mi}");
    MigrationFault.Site site = new MigrationFault.Site(scenario, local, request, source, from, to);

    Optional<Workload> moved =
        during.compareTo(MigrationPhase.TRANSFERRING) >= 0
            ? moving(request, source, log)
            : Optional.empty();
    request.awaitEntered(during);
    GpuMigrationStatus struck = request.status();
    Runnable undo = fault.strikeAndUndo(site);
    try {
      if (fault == MigrationFault.TARGET_LOST) {
        // Where nothing was frozen it waits for a node: that one, when it is back.
        request.awaitEndOrNoNode();
      } else if (moved.isEmpty() && fault.dies() != MigrationFault.Dies.SOURCE) {
        moved = moving(request, source, log);
        request.awaitEnd();
      } else {
        request.awaitEnd();
      }
    } finally {
      undo.run();
    }
    if (moved.isEmpty() && fault == MigrationFault.TARGET_LOST) {
      moved = moving(request, source, log);
    }
    GpuMigrationStatus end = request.awaitEnd();
    local.clearFaults();

    String cell = FaultTable.cell(during, struck, end);
    boolean there = end.getPhase() == MigrationPhase.SUCCEEDED;
    // A target that dies before it has the workload takes nothing along.
    boolean after = during == MigrationPhase.SWITCHING_OVER;
    if (fault.dies() == MigrationFault.Dies.TARGET
        ? there && after
        : fault.dies() == MigrationFault.Dies.SOURCE && !there) {
      goneWithIt(scenario, source, fault);
      TABLE.write(fault, during, cell + ", and gone with it");
      return;
    }
    if (there) {
      Workload target;
      if (moved.isEmpty() && fault.dies() == MigrationFault.Dies.SOURCE) {
        // It was started anew before it was frozen: what it printed before that is gone.
        target = Workload.of(scenario, MigrationRequest.pod(end));
        target.verifyGoesOnHere();
      } else {
        target = moved.orElseThrow();
        target.verifyGoesOn();
      }
      assertThat(target.restarts()).isZero();
      scenario.until("the source is gone", () -> scenario.findPod(source.name()) == null);
    } else if (fault == MigrationFault.SOURCE_POD_DELETED) {
      // Its user wanted it gone: no copy may run on.
      scenario.until("nothing runs", () -> scenario.pods().isEmpty());
      TABLE.write(fault, during, cell);
      return;
    } else {
      source.verifyGoesOn();
      assertThat(source.restarts()).isZero();
    }
    scenario.until("one pod is left", () -> scenario.pods().size() == 1);
    TABLE.write(fault, during, cell);
  }

  /** It may be started anew by its kubelet, as any pod whose node reboots; only once. */
  private static void goneWithIt(Scenario scenario, Workload source, MigrationFault fault) {
    scenario.until("one pod is left, or none", () -> scenario.pods().size() <= 1);
    if (fault == MigrationFault.SOURCE_REBOOTED) {
      scenario.until("its kubelet has started it again", () -> source.restarts() >= 1);
      Workload.of(scenario, source.name()).verifyGoesOn();
    }
  }

  /** What is frozen has printed all that it prints there; empty where it never came to that. */
  private static Optional<Workload> moving(MigrationRequest request, Workload source, KeptLog log) {
    request.awaitEntered(MigrationPhase.TRANSFERRING);
    GpuMigrationStatus status = request.status();
    // An operator that was dead meanwhile has not seen the transfer.
    boolean frozen =
        Stream.of("Transferring", "Restoring").anyMatch(MigrationRequest.phases(status)::contains);
    return status.getTarget() == null || !frozen
        ? Optional.empty()
        : Optional.of(request.moved(source, log));
  }
}
