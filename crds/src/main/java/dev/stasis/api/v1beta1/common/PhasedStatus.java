package dev.stasis.api.v1beta1.common;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A status with the phases that its object has entered.
 *
 * @param <P> the phases of the kind
 */
public interface PhasedStatus<P extends Enum<P> & Phase<P>> {

  /** Returns the current phase; null before the first. */
  @Nullable P getPhase();

  /** Sets the current phase. */
  void setPhase(@Nullable P phase);

  /** Returns the phases entered so far, oldest first; null before the first. */
  @Nullable List<PhaseTime<P>> getPhases();

  /** Sets the phases entered so far. */
  void setPhases(@Nullable List<PhaseTime<P>> phases);
}
