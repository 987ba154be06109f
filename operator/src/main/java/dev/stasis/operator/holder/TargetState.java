package dev.stasis.operator.holder;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.time.Instant;

/** How far a target has come, in the words of the scheduler and the kubelet. */
public sealed interface TargetState {

  /** It waits for something: a node, an image, the kubelet. */
  record Coming(Reason reason, String sentence) implements TargetState {}

  /**
   * Its holder waits for the workload.
   *
   * @param since when the holder was started
   */
  record Holding(Instant since) implements TargetState {}

  /** Nothing can be restored into it any more. */
  record Broken(Fault fault) implements TargetState {}
}
