package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.Api;

/**
 * A condition of a pod.
 *
 * @param type as in the pod's status
 * @param status whether the condition holds
 * @param reason the reason in CamelCase
 * @param message one sentence
 */
public record PodConditionUpdate(String type, boolean status, String reason, String message) {

  /**
   * The workload is frozen.
   *
   * @param message why, since when and by which object
   */
  public static PodConditionUpdate frozen(String reason, String message) {
    return new PodConditionUpdate(Api.FROZEN_POD_CONDITION, true, reason, message);
  }

  /** The workload was frozen and no longer is. */
  public static PodConditionUpdate notFrozen(String reason, String message) {
    return new PodConditionUpdate(Api.FROZEN_POD_CONDITION, false, reason, message);
  }

  /** The readiness gate of a target: it opens once the restored workload is verified. */
  public static PodConditionUpdate restored(boolean proven, String reason, String message) {
    return new PodConditionUpdate(Api.RESTORED_GATE, proven, reason, message);
  }
}
