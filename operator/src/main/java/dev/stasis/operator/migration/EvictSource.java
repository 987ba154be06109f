package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;

/** Evicts the source: the verified target runs. */
final class EvictSource extends Step<MigrationContext, MigrationPhase> {

  /**
   * How long after the decision a PodDisruptionBudget may still refuse the eviction of the source.
   * It allowed it before the freeze, so usually its controller only has to count the target. A
   * budget that changed since is not respected any longer: it would only keep a frozen copy that
   * never runs again and holds a GPU, while the verified target runs.
   */
  private static final Duration BUDGET = Duration.ofSeconds(30);

  private final PodWrites pods;
  private final Targets targets;
  private final MigrationReporter reporter;

  EvictSource(PodWrites pods, Targets targets, MigrationReporter reporter) {
    super(
        "evict-source",
        List.of(MigrationPhase.SWITCHING_OVER),
        new Timeout(
            BUDGET.toSeconds() + " s, then it is deleted",
            "The budget allowed it before the freeze; now it would only keep a frozen copy that"
                + " never runs again and uses a GPU."));
    this.pods = pods;
    this.targets = targets;
    this.reporter = reporter;
  }

  @Override
  protected boolean isUrgent() {
    return true;
  }

  @Override
  protected Progress observe(MigrationContext context) {
    return context
        .source()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .<Progress>map(pod -> new Progress.Due(() -> evict(context, pod)))
        .orElseGet(Progress.Done::new);
  }

  private Progress evict(MigrationContext context, Pod source) {
    reporter.openGate(context);
    String name = source.getMetadata().getName();
    if (!(pods.evict(source, false) instanceof PodWrites.Refused refused)) {
      return new Progress.Waiting(Reason.SWITCHED_OVER, "pod " + name + " is being removed");
    }
    if (!refused.later() || context.decided().plus(BUDGET).isBefore(context.now())) {
      reporter.warning(
          context,
          Reason.EVICTION_REFUSED,
          "deleting pod %s anyway: it is the frozen copy, and the target runs".formatted(name),
          "deletion");
      targets.remove(source);
    }
    return new Progress.Waiting(Reason.EVICTION_REFUSED, refused.sentence());
  }
}
