package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** The progress of a step. */
public sealed interface Progress {

  /** The step is complete. */
  record Done() implements Progress {}

  /**
   * The step has something to do now.
   *
   * @param act does it and returns how far the step is then: {@link Done} when the request is to be
   *     observed again at once. Doing it again does no harm.
   */
  record Due(Supplier<Progress> act) implements Progress {

    /** Does it, and returns how far the step is then. */
    public Progress run() {
      return act.get();
    }

    /** Returns one after whose act the request is observed again at once. */
    public static Due of(Runnable act) {
      return new Due(
          () -> {
            act.run();
            return new Done();
          });
    }
  }

  /**
   * The step has reported its state itself, which takes more than a reason and a message.
   *
   * @param requeueAfter when the request is observed again
   */
  record Reported(Duration requeueAfter) implements Progress {}

  /** The step waits for a change. */
  record Waiting(Reason reason, String message) implements Progress {}

  /** The step cannot be completed; the request is rolled back. */
  record Failed(List<Fault> faults) implements Progress {
    public Failed {
      faults = List.copyOf(faults);
    }

    public Failed(Fault fault) {
      this(List.of(fault));
    }
  }

  /** The workload does not run and nothing can change that here: the request ends at once. */
  record Lost(Reason reason, String message) implements Progress {}
}
