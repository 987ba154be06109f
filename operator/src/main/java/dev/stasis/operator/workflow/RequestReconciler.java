package dev.stasis.operator.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.SkewGuard;
import dev.stasis.operator.log.LogContext;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reconciles the requests of one kind: observes one, advances its workflow by a step, and writes
 * its status. A deletion undoes the steps, then removes the finalizer.
 *
 * @param <R> the kind
 * @param <S> its status
 * @param <C> the observed state of one request
 * @param <P> the phases of the kind
 */
public final class RequestReconciler<
    R extends CustomResource<?, S>,
    S extends ConditionedStatus,
    C extends RequestContext<P>,
    P extends Enum<P> & Phase<P>> {

  private final StatusWriter<R, S> statuses;
  private final Function<R, C> observer;
  private final Function<R, Workflow<C, P>> workflows;
  private final StasisConfig config;
  private final SkewGuard skew;

  /**
   * @param workflows returns the workflow of a request
   */
  public RequestReconciler(
      StatusWriter<R, S> statuses,
      Function<R, C> observer,
      Function<R, Workflow<C, P>> workflows,
      StasisConfig config,
      SkewGuard skew) {
    this.statuses = statuses;
    this.observer = observer;
    this.workflows = workflows;
    this.config = config;
    this.skew = skew;
  }

  /** Advances a request by one step. */
  public UpdateControl<R> reconcile(R request, Context<R> context) {
    if (skew.holds(request)) {
      // A corrected status triggers no event.
      return UpdateControl.<R>noUpdate().rescheduleAfter(config.lookAgainEvery());
    }
    Optional<JsonNode> before = statuses.read(request);
    try (LogContext fields = LogContext.of(request)) {
      C observed = observer.apply(request);
      observed.addTo(fields);
      P phase = observed.phase();
      if (phase.isFinal()) {
        // Its options can still change, and no report of a step follows: kstatus would wait.
        request.getStatus().setObservedGeneration(request.getMetadata().getGeneration());
      }
      Workflow<C, P> workflow = workflows.apply(request);
      Optional<Duration> requeueAfter = new WorkflowRunner<>(workflow, config).advance(observed);
      Duration mayWait = workflow.mayWait(phase, observed);
      return statuses.write(request, before, mayWait, requeueAfter, context);
    }
  }

  /** Undoes a request that is being deleted; one in a final phase is removed immediately. */
  public DeleteControl cleanup(R request, Context<R> context) {
    if (skew.holds(request)) {
      return DeleteControl.noFinalizerRemoval().rescheduleAfter(config.lookAgainEvery().toMillis());
    }
    Optional<JsonNode> before = statuses.read(request);
    try (LogContext fields = LogContext.of(request)) {
      C observed = observer.apply(request);
      observed.addTo(fields);
      Workflow<C, P> workflow = workflows.apply(request);
      WorkflowRunner<C, P> runner = new WorkflowRunner<>(workflow, config);
      boolean removable = runner.isRemovable(observed);
      if (removable && workflow.release(observed)) {
        statuses.forget(request);
        return DeleteControl.defaultDelete();
      }
      Duration requeueAfter =
          (removable ? Optional.<Duration>empty() : runner.advance(observed))
              .orElseGet(() -> workflow.requeueAfter(observed, config.lookAgainEvery()));
      statuses.writeDeleted(request, before, context);
      return DeleteControl.noFinalizerRemoval().rescheduleAfter(requeueAfter.toMillis());
    }
  }
}
