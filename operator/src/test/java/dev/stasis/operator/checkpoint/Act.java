package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.operator.pod.PodConditionUpdate;
import io.fabric8.kubernetes.api.model.Pod;

/** What one reconciliation did. Each can be done again without harm. */
sealed interface Act {

  /** Creates an operation. */
  record Create(GpuNodeOperation operation) implements Act {}

  /** Requests that an agent undoes its operation. */
  record Cancel(GpuNodeOperation operation) implements Act {}

  /** Deletes a finished operation. */
  record Release(GpuNodeOperation operation) implements Act {}

  /** Deletes an operation that no agent has claimed. */
  record Withdraw(GpuNodeOperation operation) implements Act {}

  /** Deletes an operation that its agent will not finish. */
  record Abandon(GpuNodeOperation operation) implements Act {}

  /** Reports on the pod whether its workload is frozen. */
  record Condition(PodConditionUpdate update) implements Act {}

  /** Returns a released pod to its Job. */
  record TakeBack(Pod pod) implements Act {}

  /** Deletes the GpuCheckpoint. */
  record DeleteSelf() implements Act {}
}
