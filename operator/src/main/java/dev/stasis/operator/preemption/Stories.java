package dev.stasis.operator.preemption;

import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Tells both sides what happens to them.
 *
 * @param events where it is told
 */
record Stories(Events events) {

  void tell(HasMetadata about, Reason reason, String message, String occasion) {
    events.tell(Story.normal(about, reason, message, occasion));
  }

  void warn(HasMetadata about, Reason reason, String message, String occasion) {
    events.tell(Story.warning(about, reason, message, occasion));
  }
}
