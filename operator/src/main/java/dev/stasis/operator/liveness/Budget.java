package dev.stasis.operator.liveness;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Probe;
import java.time.Duration;
import java.util.Objects;

/**
 * The time limit of a component that watches a workload, during a freeze.
 *
 * @param property its field in the pod
 * @param total the time that its fields allow
 * @param usable the longest safe freeze within it
 * @param sum the calculation of the total, in words
 * @param reason the reason code if it is too short
 */
record Budget(String property, Duration total, Duration usable, String sum, Reason reason) {

  private static final int PERCENT = 80;

  /** Kubernetes' defaults, for a pod that was not read from an API server. */
  private static final int PERIOD = 10;

  private static final int FAILURES = 3;
  private static final int TIMEOUT = 1;

  /**
   * The limit of a probe: four fifths of period times failures. In the worst case the freeze begins
   * just before an attempt, and the last one fails when its timeout is over; with one or two
   * allowed failures that limit is lower.
   */
  static Budget of(String property, Probe probe) {
    int period = Objects.requireNonNullElse(probe.getPeriodSeconds(), PERIOD);
    int failures = Objects.requireNonNullElse(probe.getFailureThreshold(), FAILURES);
    int timeout = Objects.requireNonNullElse(probe.getTimeoutSeconds(), TIMEOUT);
    Duration total = Duration.ofSeconds((long) period * failures);
    Duration worst = Duration.ofSeconds((long) period * (failures - 1) + timeout);
    Duration usable = part(total);
    return new Budget(
        property,
        total,
        worst.compareTo(usable) < 0 ? worst : usable,
        failures + " x " + period + "s",
        Reason.PROBE_TOO_SHORT);
  }

  /** The limit of a deadline after which pod or job is ended. */
  static Budget ofDeadline(String property, Duration left) {
    Duration rest = left.isNegative() ? Duration.ZERO : left;
    return new Budget(property, rest, part(rest), "left", Reason.ACTIVE_DEADLINE_TOO_SHORT);
  }

  private static Duration part(Duration total) {
    return total.multipliedBy(PERCENT).dividedBy(100);
  }
}
