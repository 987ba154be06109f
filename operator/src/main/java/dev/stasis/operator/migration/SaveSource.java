package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import java.util.List;
import java.util.Optional;

/** Creates a GpuCheckpoint that saves the source and then evicts it. */
final class SaveSource extends Step<MigrationContext, MigrationPhase> {

  private final SourceFirstObjects objects;
  private final EvictionCheck evictions;
  private final MigrationReporter reporter;

  SaveSource(SourceFirstObjects objects, EvictionCheck evictions, MigrationReporter reporter) {
    super(
        "save-source",
        List.of(MigrationPhase.PENDING),
        new Timeout("spec.options.deadline", "Nothing is changed meanwhile."));
    this.objects = objects;
    this.evictions = evictions;
    this.reporter = reporter;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    return context.isTouched() ? new Progress.Done() : new Progress.Due(() -> save(context));
  }

  private Progress save(MigrationContext context) {
    Check.Admitted source = context.admitted();
    Optional<Progress> refusal = evictions.refusal(context, source.pod(), true);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    Optional<String> refused = objects.save(context, source);
    if (refused.isPresent()) {
      return new Progress.Waiting(Reason.REFUSED_BY_CLUSTER, refused.get());
    }
    String name = SourceFirstObjects.name(context.migration());
    context.sourceFirstUpdater().saves(name);
    reporter.normal(
        context,
        Reason.IN_PROGRESS,
        "GpuCheckpoint " + name + " checkpoints it; it is removed before its target is created",
        "save");
    return new Progress.Done();
  }
}
