package dev.stasis.operator.liveness;

import dev.stasis.api.v1beta1.common.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Whether the freeze ends before any probe or deadline takes effect. */
public sealed interface LivenessVerdict {

  /**
   * The freeze is safe.
   *
   * @param maxFrozen the longest freeze time; empty if nothing watches the workload
   */
  record Fits(Optional<Duration> maxFrozen) implements LivenessVerdict {}

  /**
   * The freeze would be too long, or a suspended workload would eventually be killed.
   *
   * @param faults every limit that is too short, with both times
   */
  record TooShort(List<Fault> faults) implements LivenessVerdict {
    public TooShort {
      faults = List.copyOf(faults);
    }
  }
}
