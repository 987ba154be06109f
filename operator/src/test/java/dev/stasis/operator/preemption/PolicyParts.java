package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.testing.TestOperator.Parts;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;

/** What the container puts together in the product. */
public final class PolicyParts {

  private PolicyParts() {}

  public static Reconciler<GpuPreemptionPolicy> reconciler(Parts parts) {
    return new PolicyReconciler(
        parts.informers(),
        parts.client(),
        parts.events(),
        parts.metrics(),
        parts.changes(),
        parts.config(),
        parts.clock());
  }

  static AdmissionHook hook(Cluster cluster, StasisConfig config) {
    return new SchedulerPreemptionHook(cluster, config);
  }
}
