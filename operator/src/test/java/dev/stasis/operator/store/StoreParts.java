package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class StoreParts {

  private StoreParts() {}

  public static Reconciler<GpuCheckpointStore> reconciler(Parts parts) {
    return new StoreReconciler(
        parts.informers(),
        parts.client(),
        parts.config(),
        parts.clock(),
        parts.changes(),
        new SkewGuard(parts.events()));
  }
}
