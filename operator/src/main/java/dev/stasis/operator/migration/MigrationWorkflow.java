package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The reports that both orders of a migration share. */
abstract class MigrationWorkflow implements Workflow<MigrationContext, MigrationPhase> {

  protected final MigrationReporter reporter;
  protected final Throttle throttle;
  protected final FinishedMigration finished;
  private final DeleteArtifacts deleteArtifacts;
  protected final StasisConfig config;

  MigrationWorkflow(
      MigrationReporter reporter,
      Throttle throttle,
      FinishedMigration finished,
      DeleteArtifacts deleteArtifacts,
      StasisConfig config) {
    this.reporter = reporter;
    this.throttle = throttle;
    this.finished = finished;
    this.deleteArtifacts = deleteArtifacts;
    this.config = config;
  }

  /**
   * Events outside the migration that end it. A source that cannot be thawed any more is still
   * moved.
   */
  @Override
  public Optional<Fault> stop(MigrationContext context) {
    if (context.isDecided() || context.isOnlyArtifactLeft()) {
      return Optional.empty();
    }
    if (context.isCancelled()) {
      return Optional.of(MigrationFaults.cancelled());
    }
    if (!context.deadline().isAfter(context.now())) {
      String said = context.status().getMessage();
      return Optional.of(
          Reason.DEADLINE_EXCEEDED.misfit(
              "deadline",
              "a verified target within "
                  + context.migration().getSpec().getOptions().getDeadline().text(),
              "phase " + context.phase().value() + (said == null ? "" : ": " + said)));
    }
    return context
        .frozenUntil()
        .filter(until -> !until.isAfter(context.now()))
        .map(
            until ->
                Reason.PROBE_TOO_SHORT.misfit(
                    "freeze time",
                    "at most until " + until + ", before a probe or a deadline of its pod ends it",
                    "no verified target by then"));
  }

  /** A migration that waits in Pending lets another one proceed. */
  @Override
  public void waits(MigrationContext context, MigrationPhase phase, Progress.Waiting waiting) {
    context.updater().waits(phase, waiting, context);
    reporter.waits(context, waiting);
    if (phase == MigrationPhase.PENDING) {
      throttle.giveBack(context.migration());
    }
  }

  /** The source survives: that is recorded before anything is undone. */
  @Override
  public void fails(MigrationContext context, List<Fault> faults) {
    context.updater().rollsBack(faults, context);
  }

  /** Returns the end of a message that says where the artifact is; empty without one. */
  protected static String artifactStays(MigrationContext context) {
    return context
        .artifact()
        .map(
            it ->
                "; its artifact stays at %s in store %s%s"
                    .formatted(
                        it.getLocation(),
                        it.getStore(),
                        it.getNode() == null ? "" : " on node " + it.getNode()))
        .orElse("");
  }

  @Override
  public void loses(MigrationContext context, Progress.Lost lost) {
    String because =
        context.faults().isEmpty()
            ? ""
            : "; before that: " + new FaultSummary(context.faults()).message();
    context.updater().loses(lost.reason(), lost.message() + artifactStays(context) + because);
    throttle.giveBack(context.migration());
    reporter.failed(context, lost.reason(), reporter::workloadLost);
  }

  @Override
  public Progress undone(MigrationContext context) {
    Progress artifacts = deleteArtifacts.observe(context);
    if (artifacts instanceof Progress.Due due) {
      return due.run();
    }
    if (artifacts instanceof Progress.Waiting) {
      return artifacts;
    }
    // An operator that crashed after it created the freeze may never have written that phase.
    boolean touched =
        context.work().freeze().isPresent()
            || context.phases().stream().anyMatch(it -> it.phase() == MigrationPhase.FREEZING);
    boolean cancelled =
        new FaultSummary(context.faults()).hasAnyOf(Set.of(Reason.CANCELLED.value()));
    Room room = context.status().getRoom();
    context.updater().undone(cancelled, touched, room != null && room.originalLimit() != null);
    throttle.giveBack(context.migration());
    reporter.undone(context, cancelled, touched);
    return artifacts;
  }

  @Override
  public Optional<Duration> rest(MigrationContext context) {
    throttle.giveBack(context.migration());
    return finished.observe(context);
  }

  @Override
  public boolean release(MigrationContext context) {
    throttle.giveBack(context.migration());
    finished.tidy(context);
    return finished.release(context);
  }

  /** The end is reported first, because throttle, metrics and the pods depend on it. */
  @Override
  public boolean isRemovedAtOnce() {
    return false;
  }

  /** A running pod can wait for a quota or a budget; a frozen one cannot. */
  @Override
  public Duration requeueAfter(MigrationContext context, Duration wait) {
    Duration soonest =
        context.phase() == MigrationPhase.PENDING
            ? new Backoff(config.lookAgainEvery(), Backoff.PATIENT)
                .after(context.entered(), context.now())
            : wait;
    // Deadlines trigger no event.
    for (Instant time : List.of(context.deadline(), context.frozenUntil().orElse(Instant.MAX))) {
      if (time.isAfter(context.now()) && time.isBefore(context.now().plus(soonest))) {
        soonest = Duration.between(context.now(), time).plusMillis(20);
      }
    }
    return soonest;
  }
}
