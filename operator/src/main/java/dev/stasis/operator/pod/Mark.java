package dev.stasis.operator.pod;

import dev.stasis.api.v1alpha1.Api;

/**
 * A condition of a pod.
 *
 * @param type as in the pod's status
 * @param status whether it is so
 * @param reason in one word
 * @param message in one sentence
 */
public record Mark(String type, boolean status, String reason, String message) {

  /**
   * The workload stands still.
   *
   * @param message why, since when and by which object
   */
  public static Mark frozen(String reason, String message) {
    return new Mark(Api.FROZEN_POD_CONDITION, true, reason, message);
  }

  /** It stood still, and does no more. */
  public static Mark notFrozen(String reason, String message) {
    return new Mark(Api.FROZEN_POD_CONDITION, false, reason, message);
  }

  /** The readiness gate of a target: open once the restored workload is proven. */
  public static Mark restored(boolean proven, String reason, String message) {
    return new Mark(Api.RESTORED_GATE, proven, reason, message);
  }
}
