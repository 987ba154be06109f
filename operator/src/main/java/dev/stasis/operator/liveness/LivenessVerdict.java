package dev.stasis.operator.liveness;

import dev.stasis.api.v1alpha1.common.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Whether the freeze is over before anything that watches the pod acts. */
public sealed interface LivenessVerdict {

  /**
   * It is.
   *
   * @param maxFrozen longest time for which the workload may stand still; empty: nothing watches it
   * @param answered probes that the agent has to answer while it stands still
   */
  record Fits(Optional<Duration> maxFrozen, List<String> answered) implements LivenessVerdict {
    public Fits {
      answered = List.copyOf(answered);
    }
  }

  /**
   * It is not, or a suspended workload would be killed some time.
   *
   * @param faults each that is too short, with both times
   */
  record TooShort(List<Fault> faults) implements LivenessVerdict {
    public TooShort {
      faults = List.copyOf(faults);
    }
  }
}
