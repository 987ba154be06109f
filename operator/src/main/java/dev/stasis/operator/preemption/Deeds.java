package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.GpuRestore;
import io.fabric8.kubernetes.api.model.Pod;

/** What a policy does to the cluster. Each can be done again without harm. */
interface Deeds {

  /**
   * Keeps the place on a node for a pod that waits.
   *
   * @return false when it does not wait any more: it has its node, or is gone
   */
  boolean nominate(Pod preemptor, String node);

  /**
   * Freezes a pod and evicts it.
   *
   * @param name of the GpuCheckpoint, and of the GpuRestore that brings it back
   */
  void evict(GpuPreemptionPolicy policy, String name, Pod victim, Pod preemptor);

  /** Leaves for it what brings it back under its name, as soon as there is room. */
  void bringBack(GpuPreemptionPolicy policy, GpuCheckpoint from);

  /** Gives up a freeze: the pod goes on. */
  void cancel(GpuCheckpoint checkpoint);

  /**
   * The pod is back: what it was brought back from goes, with its artifact.
   *
   * @return false when it is not as it was seen: it goes already, or has to be looked at again
   */
  boolean forget(GpuCheckpoint checkpoint);

  /** The record of what is over, or was never begun, goes. */
  void forget(GpuRestore restore);
}
