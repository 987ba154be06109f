package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;

/**
 * A change of an object.
 *
 * @param before its earlier state; empty if it is new
 * @param after its current state; empty if it was deleted
 */
public record Changed<R extends HasMetadata>(Optional<R> before, Optional<R> after) {

  /** Returns the current, or the last, state. */
  public R subject() {
    return after.or(() -> before).orElseThrow();
  }

  /** Returns whether it was created or deleted. */
  public boolean cameOrWent() {
    return before.isEmpty() || after.isEmpty();
  }
}
