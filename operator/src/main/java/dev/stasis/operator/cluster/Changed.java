package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;

/**
 * Something has changed.
 *
 * @param before as it was; empty: it is new
 * @param after as it is; empty: it is gone
 */
public record Changed<R extends HasMetadata>(Optional<R> before, Optional<R> after) {

  /** As it is now, or as it last was. */
  public R subject() {
    return after.or(() -> before).orElseThrow();
  }

  /** Whether it was not there before or is not there now. */
  public boolean cameOrWent() {
    return before.isEmpty() || after.isEmpty();
  }
}
