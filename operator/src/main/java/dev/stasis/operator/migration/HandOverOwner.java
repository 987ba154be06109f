package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;

/** The controller of the source adopts the target in its place. */
final class HandOverOwner extends Step<MigrationContext, MigrationPhase> {

  /** A controller adopts a pod that has its labels within a second, or never. */
  private static final Duration ADOPTION = Duration.ofMinutes(2);

  private final Adoption adoption;
  private final MigrationOperations operations;
  private final MigrationReporter reporter;

  HandOverOwner(Adoption adoption, MigrationOperations operations, MigrationReporter reporter) {
    super(
        "hand-over-owner",
        List.of(MigrationPhase.SWITCHING_OVER),
        new Timeout(
            ADOPTION.toMinutes() + " min, and the target has the labels of the source",
            "A controller adopts a pod with its labels within a second, or never. Without them it"
                + " would start a cold pod beside the target."));
    this.adoption = adoption;
    this.operations = operations;
    this.reporter = reporter;
  }

  /**
   * An action of the controller triggers an observation; until then each observation calls the API
   * server.
   */
  @Override
  protected boolean isUrgent() {
    return true;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    boolean open =
        context.owner().isPresent()
            && context.target().isPresent()
            && (context.decided().plus(ADOPTION).isAfter(context.now())
                || !adoption.isOffered(before(context), context.target().get()));
    return open ? new Progress.Due(() -> handOver(context)) : new Progress.Done();
  }

  /** The source before it was touched. */
  private Pod before(MigrationContext context) {
    return operations
        .orders()
        .original(context.work(), context.source().or(context::target).orElseThrow());
  }

  private Progress handOver(MigrationContext context) {
    reporter.openGate(context);
    return new Progress.Waiting(
        Reason.SWITCHED_OVER,
        adoption.step(
            before(context),
            context.source(),
            context.target().orElseThrow(),
            context.owner().orElseThrow()));
  }
}
