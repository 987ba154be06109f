package dev.stasis.operator.event;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;

/** Records Kubernetes events. */
public interface EventRecorder {

  /**
   * Records an event unless it was recorded before. Never fails: reconciliation does not depend on
   * events.
   *
   * @return whether this operator had not recorded it yet. Counters depend on it, because an
   *     outdated status is reconciled twice
   */
  boolean tell(Story story);

  /** Records a normal event; see {@link Story} for the parameters. */
  default void normal(HasMetadata about, Reason reason, String message, String occasion) {
    tell(new Story(about, false, reason, message, occasion));
  }

  default boolean warning(HasMetadata about, Reason reason, String message, String occasion) {
    return tell(new Story(about, true, reason, message, occasion));
  }
}
