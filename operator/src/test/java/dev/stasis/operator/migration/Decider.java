package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.operator.testing.Kstatus;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Workflow;
import dev.stasis.operator.workflow.WorkflowRunner;
import java.util.Optional;

/** What a migration does next: its current step, run against fakes and a copy of its status. */
final class Decider {

  /** As often a target is created before the source is touched. */
  static final int ATTEMPTS = MigrationTargets.ATTEMPTS;

  private final MigrationFakes fakes = new MigrationFakes();

  Next next(MigrationContext observed) {
    if (observed.phase().isFinal()) {
      return new Next.Rest();
    }
    MigrationContext context = copy(observed);
    boolean isSourceFirst =
        context.migration().getSpec().getStrategy() == MigrationStrategy.RECREATE;
    Workflow<MigrationContext, MigrationPhase> workflow =
        isSourceFirst ? fakes.sourceFirst(fakes.objects()) : fakes.targetFirst();
    WorkflowRunner<MigrationContext, MigrationPhase> runner = fakes.runner(workflow);
    Optional<Progress> progress = runner.current(context).map(WorkflowRunner.Current::progress);
    runner.advance(context);
    new Kstatus().check(context.migration());
    if (progress.isPresent() && progress.get() instanceof Progress.Failed failed) {
      return new Next.RollBack(failed.faults());
    }
    if (progress.isPresent() && progress.get() instanceof Progress.Lost lost) {
      return new Next.Lose(lost.reason(), lost.message());
    }
    if (progress.isPresent() && progress.get() instanceof Progress.Waiting waiting) {
      return new Next.Wait(context.phase(), waiting.reason(), waiting.message());
    }
    return act(observed, context);
  }

  private Next act(MigrationContext before, MigrationContext after) {
    boolean isLost = after.status().getTarget() == null && before.status().getTarget() != null;
    if (isLost && !before.isUndone()) {
      return new Next.Another(after.status().getExcludedNodes() != null);
    }
    if (!fakes.acts.isEmpty()) {
      return fakes.acts.get(0);
    }
    if (after.phase().isFinal()) {
      return after.phase() == MigrationPhase.SUCCEEDED ? new Next.Succeed() : new Next.Undone();
    }
    if (after.isDecided() && !before.isDecided()) {
      return new Next.SwitchOver();
    }
    if (after.status().getTarget() != null && after.attempts() > before.attempts()) {
      return new Next.Adopt();
    }
    throw new AssertionError("nothing was done");
  }

  /** Running a step writes into the status. */
  MigrationContext copy(MigrationContext observed) {
    GpuMigration migration =
        fakes.client().getKubernetesSerialization().clone(observed.migration());
    if (migration.getStatus().getSourceHardware() == null) {
      migration
          .getStatus()
          .setSourceHardware(new Hardware("580.105.08", null, "None", "gpu.model=H200", null));
    }
    return new MigrationContext(
        migration,
        observed.check(),
        observed.source(),
        observed.target(),
        observed.work(),
        observed.sourceAgent(),
        observed.targetAgent(),
        observed.places(),
        observed.excludedNodes(),
        observed.turn(),
        observed.owner(),
        observed.sourceFirst(),
        observed.orphanAfter(),
        observed.now());
  }
}
