package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.function.Consumer;

/** The point of no return: one write of the status decides that the source never runs again. */
final class Commit extends Step<MigrationContext, MigrationPhase> {

  private final Consumer<MigrationContext> commit;

  Commit(List<MigrationPhase> phases, Consumer<MigrationContext> commit) {
    super("commit", phases, Timeout.none("One write of the status, which is retried."));
    this.commit = commit;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    return context.isDecided()
        ? new Progress.Done()
        : Progress.Due.of(() -> commit.accept(context));
  }
}
