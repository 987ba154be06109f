package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.status.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Runs the first step that is not complete, or undoes the last one that is not undone.
 *
 * @param <C> the observed state of one request
 * @param <P> the phases of the kind
 */
public final class WorkflowRunner<C extends RequestContext<P>, P extends Enum<P> & Phase<P>> {

  /** After a step has run: enough time for the status to be written and to reach the cache. */
  private static final Duration SOON = Duration.ofMillis(50);

  private final Workflow<C, P> workflow;
  private final StasisConfig config;

  public WorkflowRunner(Workflow<C, P> workflow, StasisConfig config) {
    this.workflow = workflow;
    this.config = config;
  }

  /**
   * The current step.
   *
   * @param step the first incomplete step or, during an undo, the last one that is not undone
   * @param progress its progress
   */
  public record Current<C extends RequestContext<P>, P extends Enum<P> & Phase<P>>(
      Step<C, P> step, Progress progress) {}

  /** Returns the current step; empty if all are complete, or undone. Has no side effects. */
  public Optional<Current<C, P>> current(C context) {
    boolean undo = context.isUndone();
    List<Step<C, P>> steps = new ArrayList<>(workflow.steps());
    if (undo) {
      Collections.reverse(steps);
    }
    for (Step<C, P> step : steps) {
      Progress progress = undo ? step.observeUndo(context) : step.observe(context);
      if (!(progress instanceof Progress.Done)) {
        Optional<Fault> stop = undo ? Optional.empty() : workflow.stop(context);
        return Optional.of(
            new Current<>(step, stop.<Progress>map(Progress.Failed::new).orElse(progress)));
      }
    }
    return Optional.empty();
  }

  /**
   * Advances the request by one step.
   *
   * @return when to observe it again; empty if only after a change
   */
  public Optional<Duration> advance(C context) {
    Optional<Duration> next =
        isOver(context)
            ? workflow.rest(context)
            : Optional.of(
                current(context).map(it -> advance(context, it)).orElseGet(() -> end(context)));
    return Stream.concat(next.stream(), workflow.maintain(context).stream())
        .min(Comparator.naturalOrder());
  }

  private boolean isOver(C context) {
    boolean deleted = context.object().getMetadata().getDeletionTimestamp() != null;
    return context.phase().isFinal() && !(deleted && workflow.isUndoneWhenFinal());
  }

  private Duration end(C context) {
    boolean undone = context.isUndone();
    P phase = context.phase();
    Progress ended = undone ? workflow.undone(context) : workflow.completed(context);
    report(context, phase, ended);
    return ended instanceof Progress.Waiting
        ? retry(context, config.lookAgainEvery(), Backoff.PATIENT)
        : SOON;
  }

  private Duration advance(C context, Current<C, P> current) {
    boolean undone = context.isUndone();
    Step<C, P> step = current.step();
    P phase = undone ? context.phase() : step.phase(context);
    if (!(current.progress() instanceof Progress.Due due)) {
      report(context, phase, current.progress());
      return current.progress() instanceof Progress.Waiting
          ? workflow.requeueAfter(context, config.lookAgainEvery())
          : SOON;
    }
    Progress result = due.run();
    if (result instanceof Progress.Reported reported) {
      return reported.requeueAfter();
    }
    if (undone) {
      // The agent or the kubelet reports when it is done.
      return config.progressEvery();
    }
    report(context, phase, result);
    return result instanceof Progress.Waiting
        ? retry(context, step.firstWait(config), step.longestWait())
        : SOON;
  }

  /** There is no event when the API server would accept it, and each attempt costs requests. */
  private Duration retry(C context, Duration first, Duration longest) {
    Duration wait = new Backoff(first, longest).after(context.entered(), context.now());
    return workflow.requeueAfter(context, wait);
  }

  /** Returns whether a request that is being deleted has nothing left to undo. */
  public boolean isRemovable(C context) {
    return isOver(context) || (workflow.isRemovedAtOnce() && current(context).isEmpty());
  }

  private void report(C context, P phase, Progress progress) {
    if (progress instanceof Progress.Waiting waiting) {
      workflow.waits(context, phase, waiting);
    } else if (progress instanceof Progress.Failed failed) {
      workflow.fails(context, failed.faults());
    } else if (progress instanceof Progress.Lost lost) {
      workflow.loses(context, lost);
    }
  }
}
