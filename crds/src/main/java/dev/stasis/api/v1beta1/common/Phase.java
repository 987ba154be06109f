package dev.stasis.api.v1beta1.common;

import java.util.Set;

/**
 * Phase of an object. Phases are for display; programs should use conditions.
 *
 * @param <P> the phases of one kind
 */
public interface Phase<P extends Enum<P> & Phase<P>> {
  /** Returns the value used in the API. */
  String value();

  /** Returns the phases that may follow; empty for a final phase. */
  Set<P> successors();

  /** Returns whether the phase is final. */
  default boolean isFinal() {
    return successors().isEmpty();
  }
}
