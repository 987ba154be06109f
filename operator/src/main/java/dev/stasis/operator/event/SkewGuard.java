package dev.stasis.operator.event;

import dev.stasis.api.skew.UnrecognizedValues;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.client.CustomResource;
import jakarta.inject.Singleton;
import java.util.List;

/**
 * Keeps reconcilers away from objects with values of a newer release: this operator might thaw,
 * delete or evict what the value protects. A newer operator reconciles them again.
 */
@Singleton
public class SkewGuard {

  private final EventRecorder events;

  public SkewGuard(EventRecorder events) {
    this.events = events;
  }

  /** Returns whether the object must be left alone, and reports why. */
  public boolean holds(CustomResource<?, ?> object) {
    List<String> fields = UnrecognizedValues.in(object);
    if (fields.isEmpty()) {
      return false;
    }
    String names = String.join(", ", fields);
    events.warning(
        object,
        Reason.UNRECOGNIZED_VALUE,
        names
            + ": expected a value that this operator knows, got one of a newer release. The"
            + " operator changes nothing until it is upgraded",
        names);
    return true;
  }
}
