package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.status.Backoff;
import java.time.Duration;
import java.util.List;

/**
 * One step of a request. Observing has no side effects. Running and undoing are idempotent: an
 * operator that crashes afterwards continues from what it observes.
 *
 * @param <C> the observed state of one request
 * @param <P> the phases of the kind
 */
public abstract class Step<C extends RequestContext<P>, P extends Enum<P> & Phase<P>> {

  private final String name;
  private final List<P> phases;
  private final Timeout timeout;

  /**
   * @param name the name in the documentation: {@code create-target}
   * @param phases the request's phases during the step
   * @param timeout time limit of the step
   */
  protected Step(String name, List<P> phases, Timeout timeout) {
    this.name = name;
    this.phases = List.copyOf(phases);
    this.timeout = timeout;
  }

  public final String name() {
    return name;
  }

  /** Returns the request's phases during the step. */
  public final List<P> phases() {
    return phases;
  }

  public final Timeout timeout() {
    return timeout;
  }

  /** Returns the phase to report while the step is the current one. */
  protected P phase(C context) {
    return phases.get(0);
  }

  /**
   * Returns the maximum wait between two attempts of a step that the API server refuses; the waits
   * double up to it.
   */
  public Duration longestWait() {
    return isUrgent() ? Backoff.FROZEN : Backoff.PATIENT;
  }

  /** Returns whether something waits for the step that cannot wait long, such as a frozen copy. */
  protected boolean isUrgent() {
    return false;
  }

  /** Returns the first wait between two such tries. */
  protected Duration firstWait(StasisConfig config) {
    return isUrgent() ? config.progressEvery() : config.lookAgainEvery();
  }

  /** Returns how far the step is, and what is to be done now. Has no effect by itself. */
  protected abstract Progress observe(C context);

  /** Returns a description of the undo for the documentation; empty if there is none. */
  public String undoes() {
    return "";
  }

  /** Returns how far the undo is, and what is to be undone now. Has no effect by itself. */
  protected Progress observeUndo(C context) {
    return new Progress.Done();
  }
}
