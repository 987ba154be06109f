package dev.stasis.operator.holder;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.time.Instant;

/** The progress of a target, from the scheduler and the kubelet. */
public sealed interface TargetState {

  /** It waits for a node, an image or the kubelet. */
  record Coming(Reason reason, String sentence) implements TargetState {}

  /**
   * Its holder waits for the workload.
   *
   * @param since when the holder started
   */
  record Holding(Instant since) implements TargetState {}

  /** No workload can be restored into it any more. */
  record Broken(Fault fault) implements TargetState {}
}
