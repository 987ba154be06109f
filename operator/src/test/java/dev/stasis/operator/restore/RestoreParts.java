package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.testing.TestOperator.Parts;
import dev.stasis.operator.workflow.FlowPage;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class RestoreParts {

  private RestoreParts() {}

  /** Returns the steps, for the documentation. */
  public static String flow() {
    return FlowPage.section("GpuRestore", new RestoreFakes().workflow().steps());
  }

  public static Reconciler<GpuRestore> reconciler(Parts parts) {
    Targets targets = new Targets(parts.client());
    TargetPods pods = new TargetPods(parts.informers(), targets);
    RestoreReporter reporter = new RestoreReporter(parts.events(), parts.metrics(), parts.tally());
    return new RestoreReconciler(
        parts.informers(),
        parts.operationSource(),
        new RestoreObserver(parts.informers(), parts.pods(), parts.client(), parts.clock()),
        new RestoreWorkflow(
            parts.informers(),
            parts.operations(),
            parts.pods(),
            new RestoreTargets(parts.informers(), targets, pods, parts.config()),
            new RestoredPod(
                parts.informers(), parts.pods(), reporter, parts.client(), parts.config()),
            reporter),
        parts.changes(),
        parts.config(),
        new SkewGuard(parts.events()),
        parts.clock());
  }
}
