package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Creates a GpuRestore on the requested node; if that fails, a second one on any node, including
 * the old one.
 */
final class RestoreElsewhere extends Step<MigrationContext, MigrationPhase> {

  /**
   * How long the requested node is waited for while nothing runs. A scheduler finds a free GPU
   * immediately; the source's former place is free in any case.
   */
  static final Duration PLACE = Duration.ofMinutes(2);

  /** Each of these can use a node other than the requested one. */
  private static final Set<String> NO_PLACE =
      Set.of(
          Reason.NO_NODE_FITS.value(),
          Reason.UNSCHEDULED.value(),
          Reason.IMAGE_NOT_AVAILABLE.value());

  private static final Set<RestorePhase> WAITING =
      Set.of(RestorePhase.PENDING, RestorePhase.STARTING);

  private final SourceFirstObjects objects;
  private final MigrationReporter reporter;

  RestoreElsewhere(SourceFirstObjects objects, MigrationReporter reporter) {
    super(
        "restore-elsewhere",
        List.of(MigrationPhase.TARGET_STARTING, MigrationPhase.RESTORING, MigrationPhase.VERIFYING),
        new Timeout(
            PLACE.toMinutes()
                + " min until a node is found, then spec.options.deadline of each GpuRestore",
            "A scheduler finds a free GPU immediately; at least the source's GPU is free."));
    this.objects = objects;
    this.reporter = reporter;
  }

  @Override
  public Duration longestWait() {
    return Backoff.FROZEN;
  }

  /** The phases that the GpuRestore reports. */
  @Override
  protected MigrationPhase phase(MigrationContext context) {
    return context.phase();
  }

  @Override
  protected Progress observe(MigrationContext context) {
    int number = SourceFirstObjects.number(context.status().getRestore());
    SourceFirstState state = context.sourceFirst();
    if (number == 0) {
      return restored(context, 1, List.of());
    }
    if (state.restore().isEmpty()) {
      return failed(
          context,
          number,
          List.of(
              Reason.RESTORE_FAILED.misfit(
                  "GpuRestore " + context.status().getRestore(),
                  "one that exists until the pod has moved",
                  "a deleted one")));
    }
    GpuRestore restore = state.restore().get();
    RestorePhase phase = state.restorePhase();
    if (phase == RestorePhase.SUCCEEDED) {
      return new Progress.Done();
    }
    if (phase.isFinal()) {
      List<Fault> known = context.faults();
      // It was canceled here; the reason was recorded then.
      boolean givenUp = number == 1 && phase == RestorePhase.CANCELLED && !known.isEmpty();
      return failed(context, number, givenUp ? known : state.restoringFaults());
    }
    boolean late =
        WAITING.contains(phase)
            && state.restoring().filter(it -> NO_PLACE.contains(it.reason())).isPresent()
            && !state.restoringSince().plus(PLACE).isAfter(context.now());
    if (number == 1
        && late
        && !SourceFirstState.isCancelled(restore, restore.getSpec().getOptions().getCancel())) {
      return Progress.Due.of(() -> giveUp(context, restore));
    }
    String name = "GpuRestore " + restore.getMetadata().getName();
    boolean isDeleted = context.migration().getMetadata().getDeletionTimestamp() != null;
    return number > 1 && WAITING.contains(phase) && isDeleted
        ? new Progress.Lost(
            Reason.WAITING,
            "deleted while "
                + name
                + " waits for a node: the restore continues without the migration")
        : SourceFirstState.follow(state.restoring(), name);
  }

  private void giveUp(MigrationContext context, GpuRestore restore) {
    context
        .sourceFirstUpdater()
        .givesUp(
            Reason.UNSCHEDULED.misfit(
                "target",
                "a place within " + PLACE.toSeconds() + "s",
                context.sourceFirst().restoring().map(Condition::message).orElse("no node")));
    objects.cancel(restore);
  }

  /** A target is not at risk: one more is tried, on any node. */
  private Progress failed(MigrationContext context, int number, List<Fault> faults) {
    return number == 1 ? restored(context, 2, faults) : lost(faults);
  }

  private Progress restored(MigrationContext context, int number, List<Fault> before) {
    SourceFirstState state = context.sourceFirst();
    Optional<GpuCheckpoint> from =
        state.checkpoint().filter(it -> it.getMetadata().getDeletionTimestamp() == null);
    if (from.isPresent() && !state.namespaceGoes()) {
      return new Progress.Due(() -> restore(context, from.get(), number, before));
    }
    List<Fault> all = new ArrayList<>(before);
    all.add(
        Reason.RESTORE_FAILED.misfit(
            "GpuCheckpoint " + context.status().getCheckpoint(),
            "one that exists until the pod has moved",
            state.namespaceGoes() ? "a namespace that is being deleted" : "a deleted one"));
    return lost(all);
  }

  private static Progress lost(List<Fault> faults) {
    FaultSummary summary = new FaultSummary(faults);
    return new Progress.Lost(summary.reason(Reason.OPERATION_FAILED), summary.message());
  }

  private Progress restore(
      MigrationContext context, GpuCheckpoint from, int number, List<Fault> before) {
    GpuMigration migration = context.migration();
    Optional<String> refused = objects.bringBack(migration, from, number);
    if (refused.isPresent()) {
      return new Progress.Waiting(Reason.REFUSED_BY_CLUSTER, refused.get());
    }
    String name = SourceFirstObjects.name(migration, number);
    context.sourceFirstUpdater().bringsBack(name, before);
    reporter.restores(context, before, name);
    return new Progress.Done();
  }
}
