package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Clock;
import java.util.Objects;
import java.util.Optional;

/**
 * Reports in the status that the reconciliation of an object keeps failing. Otherwise such an
 * object would be retried forever, visible only in the operator's log.
 */
public final class ErrorStatus {

  /** A conflict with another write is over by then. */
  private static final int ATTEMPTS = 3;

  private ErrorStatus() {}

  /**
   * Returns the status to write. A refusal by the API server is not a bug, and an overloaded API
   * server accepts no status either.
   */
  public static <P extends CustomResource<?, ? extends ConditionedStatus>>
      ErrorStatusUpdateControl<P> of(P failed, Context<P> context, Clock clock, Exception error) {
    boolean again = context.getRetryInfo().map(RetryInfo::getAttemptCount).orElse(0) >= ATTEMPTS;
    // The failed reconciliation's changes of the status are not written.
    Optional<P> stored = context.getPrimaryCache().get(ResourceID.fromResource(failed));
    if (!again
        || error instanceof KubernetesClientException
        || stored.isEmpty()
        || stored.get().getStatus() == null) {
      return ErrorStatusUpdateControl.defaultErrorProcessing();
    }
    P object = context.getClient().getKubernetesSerialization().clone(stored.get());
    ConditionedStatus status = Objects.requireNonNull(object.getStatus());
    Conditions known = Conditions.of(status);
    String sentence = error.getClass().getSimpleName() + ": " + error.getMessage();
    if (known
        .find(ConditionType.RECONCILED)
        .map(Condition::message)
        .filter(sentence::equals)
        .isPresent()) {
      return ErrorStatusUpdateControl.defaultErrorProcessing();
    }
    status.setConditions(
        known
            .with(
                ConditionType.RECONCILED,
                ConditionValue.FALSE,
                Reason.RECONCILE_FAILED,
                sentence,
                Objects.requireNonNullElse(object.getMetadata().getGeneration(), 1L),
                clock.instant())
            .list());
    return ErrorStatusUpdateControl.patchStatus(object);
  }

  /** Removes the report: the object was reconciled. */
  public static void clear(ConditionedStatus status) {
    Conditions known = Conditions.of(status);
    if (known.find(ConditionType.RECONCILED).isPresent()) {
      status.setConditions(known.without(ConditionType.RECONCILED).list());
    }
  }
}
