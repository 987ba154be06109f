package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import dev.stasis.operator.log.LogContext;
import dev.stasis.operator.status.PhaseLog;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The observed state of one request in one reconciliation. Only the status of the object is
 * changed.
 *
 * @param <P> the phases of the kind
 */
public interface RequestContext<P extends Enum<P> & Phase<P>> {

  /** Returns the request, with a status. */
  HasMetadata object();

  /** Returns its status. */
  PhasedStatus<P> status();

  P phase();

  /** Returns the phases entered so far, oldest first. */
  default List<PhaseTime<P>> phases() {
    return PhaseLog.of(status()).times();
  }

  Instant now();

  /** Returns the name of the current operation for the log; null if there is none. */
  @Nullable String operationName();

  /** Adds what the request works on to the log lines of the reconciliation. */
  default void addTo(LogContext fields) {
    fields.operation(operationName());
  }

  /** Returns whether its user has canceled it. */
  boolean isCancelRequested();

  /** Returns whether a step failed and the steps before it are being undone. */
  boolean hasFailed();

  /** Returns whether it must be undone: deleting an unfinished request cancels it. */
  default boolean isCancelled() {
    return isCancelRequested() || object().getMetadata().getDeletionTimestamp() != null;
  }

  /** Returns whether the steps are undone instead of run. */
  default boolean isUndone() {
    return isCancelled() || hasFailed();
  }

  /** Returns when the current phase was entered; the creation time before the first. */
  default Instant entered() {
    return PhaseLog.of(status())
        .since()
        .orElseGet(() -> Instant.parse(object().getMetadata().getCreationTimestamp()));
  }
}
