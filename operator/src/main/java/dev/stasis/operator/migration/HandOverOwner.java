package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;

/** The controller of the source adopts the target in its place. */
final class HandOverOwner extends Step<MigrationContext, MigrationPhase> {

  /** A controller adopts a pod within a second, or never. */
  private static final Duration ADOPTION = Duration.ofMinutes(2);

  private final Adoption adoption;
  private final MigrationOperations operations;
  private final MigrationReporter reporter;

  HandOverOwner(Adoption adoption, MigrationOperations operations, MigrationReporter reporter) {
    super(
        "hand-over-owner",
        List.of(MigrationPhase.SWITCHING_OVER),
        new Timeout(
            ADOPTION.toMinutes() + " min",
            "A controller adopts a pod within a second; one that has not done so by then never"
                + " will."));
    this.adoption = adoption;
    this.operations = operations;
    this.reporter = reporter;
  }

  /**
   * An action of the controller triggers an observation; until then each observation calls the API
   * server.
   */
  @Override
  protected Duration firstWait(StasisConfig config) {
    return config.progressEvery();
  }

  @Override
  public Duration longestWait() {
    return Backoff.FROZEN;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    boolean open =
        context.owner().isPresent()
            && context.target().isPresent()
            && context.decided().plus(ADOPTION).isAfter(context.now());
    return open ? new Progress.Due(() -> handOver(context)) : new Progress.Done();
  }

  private Progress handOver(MigrationContext context) {
    reporter.openGate(context);
    Pod target = context.target().orElseThrow();
    Pod before = operations.orders().original(context.work(), context.source().orElse(target));
    return new Progress.Waiting(
        Reason.SWITCHED_OVER,
        adoption.step(before, context.source(), target, context.owner().orElseThrow()));
  }
}
