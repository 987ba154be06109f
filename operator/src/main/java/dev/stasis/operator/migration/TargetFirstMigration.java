package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;

/** Moves a pod whose target is ready before the source is removed. */
@Singleton
class TargetFirstMigration extends MigrationWorkflow {

  private final List<Step<MigrationContext, MigrationPhase>> steps;
  private final MigrationTargets targets;

  TargetFirstMigration(
      MigrationOperations operations,
      MigrationTargets targets,
      MigrationHeadroom headroom,
      MigrationReporter reporter,
      FinishedMigration finished,
      Throttle throttle,
      PodWrites pods,
      Targets targetPods,
      Adoption adoption,
      StasisConfig config) {
    super(reporter, throttle, finished, new DeleteArtifacts(operations), config);
    this.targets = targets;
    EvictionCheck evictions = new EvictionCheck(pods);
    this.steps =
        List.of(
            new InspectSource(operations),
            new AwaitPlace(),
            new CreateMigrationTarget(targets, evictions, reporter),
            new CompareGpus(operations, targets),
            new OpenStream(operations, reporter),
            new FreezeSource(operations, targets, evictions, headroom, reporter),
            new TransferArtifact(operations, reporter),
            new RestoreOnTarget(operations, reporter),
            new Commit(
                List.of(MigrationPhase.VERIFYING, MigrationPhase.SWITCHING_OVER),
                TargetFirstMigration::commit),
            new HandOverOwner(adoption, operations, reporter),
            new EvictSource(pods, targetPods, reporter),
            new EndFrozenSource(operations),
            new DeleteArtifacts(operations));
  }

  @Override
  public List<Step<MigrationContext, MigrationPhase>> steps() {
    return steps;
  }

  /** The target survives. */
  private static void commit(MigrationContext context) {
    context
        .updater()
        .switchesOver(context, context.target().orElseThrow(), context.restore().orElseThrow());
  }

  /** The workload was verified on the target, and no other copy is left. */
  @Override
  public Progress completed(MigrationContext context) {
    reporter.openGate(context);
    boolean raised =
        context
            .target()
            .flatMap(target -> targets.raised(context, target, context.container()))
            .isPresent();
    Optional<Fault> ended = DeleteArtifacts.keptFor(context);
    context.updater().succeeded(raised, ended.isPresent());
    throttle.giveBack(context.migration());
    reporter.succeeded(context);
    ended.ifPresent(
        fault ->
            reporter.warning(
                context, Reason.TARGET_LOST, fault.message() + artifactStays(context), "artifact"));
    return new Progress.Done();
  }
}
