package dev.stasis.api.v1alpha1.common;

import java.util.Set;

/**
 * Where an object is on its way. Phases are for people; programs look at conditions.
 *
 * @param <P> the phases of one kind
 */
public interface Phase<P extends Enum<P> & Phase<P>> {
  /** The word as it stands in the API. */
  String word();

  /** The phases that may follow; none for one that is final. */
  Set<P> successors();

  /** Whether nothing follows. */
  default boolean isFinal() {
    return successors().isEmpty();
  }
}
