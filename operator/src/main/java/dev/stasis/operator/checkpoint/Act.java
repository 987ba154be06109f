package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodConditionUpdate;
import io.fabric8.kubernetes.api.model.Pod;

/** Something to be done. Each can be done again without harm. */
sealed interface Act {

  /** Gives an order to an agent. */
  record Create(GpuNodeOperation operation) implements Act {}

  /** Asks an agent to undo. */
  record Cancel(OperationView operation) implements Act {}

  /** Forgets an order that is over. */
  record Release(OperationView operation) implements Act {}

  /** Takes back an order that no agent has claimed. */
  record Withdraw(OperationView operation) implements Act {}

  /** Forgets an order that nobody will end. */
  record Abandon(OperationView operation) implements Act {}

  /** Says on the pod what becomes of it. */
  record MarkPod(Pod pod, PodConditionUpdate mark) implements Act {}

  /** Has a Job take the pod back that it has released. */
  record TakeBack(Pod pod, Pod source) implements Act {}

  /** Deletes the GpuCheckpoint itself: its time is over. */
  record DeleteSelf() implements Act {}
}
