package dev.stasis.agent.engine;

import java.util.Arrays;
import java.util.Objects;

/** A failed step, with a message that a user can act on. */
final class StepFailure extends Exception {

  private static final long serialVersionUID = 1L;

  private final Reason reason;

  StepFailure(Reason reason, String message) {
    super(message);
    this.reason = Objects.requireNonNull(reason);
  }

  StepFailure(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = Objects.requireNonNull(reason);
  }

  Reason reason() {
    return reason;
  }

  /** Returns whether it, or a failure for another process at the same time, has that reason. */
  boolean isAny(Reason wanted) {
    return reason == wanted
        || Arrays.stream(getSuppressed())
            .anyMatch(other -> other instanceof StepFailure one && one.isAny(wanted));
  }
}
