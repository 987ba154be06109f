package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class RestoreParts {

  private RestoreParts() {}

  public static Reconciler<GpuRestore> reconciler(Parts parts) {
    TargetWork targets =
        new TargetWork(parts.informers(), new Targets(parts.client()), parts.config());
    return new RestoreReconciler(
        parts.informers(),
        parts.operationSource(),
        parts.operations(),
        new Observer(parts.informers(), parts.pods(), parts.client(), parts.clock()),
        new Deeds(
            parts.operations(),
            parts.pods(),
            targets,
            parts.events(),
            parts.metrics(),
            parts.tally(),
            parts.clock()),
        new AfterProof(parts.pods(), parts.events(), parts.metrics()),
        parts.changes(),
        parts.config(),
        parts.clock());
  }
}
