package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The steps of a kind, and its reports.
 *
 * @param <C> the observed state of one request
 * @param <P> the phases of the kind
 */
public interface Workflow<C extends RequestContext<P>, P extends Enum<P> & Phase<P>> {

  /** Returns the steps in order. A failed or canceled request undoes them in reverse. */
  List<Step<C, P>> steps();

  /** Reports what the request waits for. */
  void waits(C context, P phase, Progress.Waiting waiting);

  /** Records why the request failed, before anything is undone. */
  void fails(C context, List<Fault> faults);

  /** Returns why the steps are not run to their end: its deadline is over. Empty: they are. */
  default Optional<Fault> stop(C context) {
    return Optional.empty();
  }

  /** Records that nothing can be undone any more: the request has ended. */
  default void loses(C context, Progress.Lost lost) {
    throw new IllegalStateException("no step of this workflow can lose a workload: " + lost);
  }

  /** All steps are complete: ends the request, if the last step has not. */
  default Progress completed(C context) {
    return new Progress.Done();
  }

  /** All steps are undone: tries again, or ends the request. */
  Progress undone(C context);

  /**
   * The request is in a final phase.
   *
   * @return when to observe it again; empty if only after a change
   */
  Optional<Duration> rest(C context);

  /**
   * The request is about to be removed: forgets what was created for it.
   *
   * @return whether nothing is left of it; otherwise it is tried again
   */
  boolean release(C context);

  /** Returns whether a request that is deleted and undone goes without entering a final phase. */
  default boolean isRemovedAtOnce() {
    return true;
  }

  /** Returns whether a request in a final phase is undone when it is deleted. */
  default boolean isUndoneWhenFinal() {
    return false;
  }

  /**
   * Continues the work that is independent of the steps, such as uploading an artifact.
   *
   * @return when to observe the request again for it; empty if only after a change
   */
  default Optional<Duration> maintain(C context) {
    return Optional.empty();
  }

  /**
   * Returns how long a changed status may wait to be written, so that the next change is written
   * with it; zero if it is written immediately.
   *
   * @param before the phase in which the request was read
   */
  default Duration mayWait(P before, C context) {
    return Duration.ZERO;
  }

  /** Returns when a request that waits is observed again: sooner for a deadline. */
  default Duration requeueAfter(C context, Duration wait) {
    return wait;
  }
}
