package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import dev.stasis.api.v1beta1.common.WorkStatus;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.PhaseLog;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes into the status of a request what every kind reports: phase, conditions, progress.
 *
 * @param <P> the phases of the kind
 * @param <S> its status
 */
public abstract class StatusUpdater<
    P extends Enum<P> & Phase<P>, S extends WorkStatus & PhasedStatus<P>> {

  /** The status that is written. */
  protected final S status;

  private final HasMetadata request;
  private final ConditionType summary;
  private final Clock clock;

  /**
   * @param summary the condition that summarizes the request
   */
  protected StatusUpdater(HasMetadata request, S status, ConditionType summary, Instant now) {
    this.request = request;
    this.status = status;
    this.summary = summary;
    this.clock = Clock.fixed(now, ZoneOffset.UTC);
  }

  /** Returns a pod as a status shows it. */
  protected static ObservedPod observed(Pod pod, @Nullable String container) {
    return new ObservedPod(
        pod.getMetadata().getName(),
        pod.getMetadata().getUid(),
        container,
        pod.getSpec().getNodeName());
  }

  /** Returns a pod with its node, once the scheduler has chosen one. */
  protected static @Nullable ObservedPod withNode(@Nullable ObservedPod known, Pod pod) {
    return known == null || known.node() != null
        ? known
        : new ObservedPod(
            known.name(), known.uid(), known.container(), pod.getSpec().getNodeName());
  }

  /** Returns what was reported last; what is known, if nothing was. */
  protected static <T> @Nullable T latest(@Nullable T reported, @Nullable T known) {
    return reported == null ? known : reported;
  }

  /** Enters a phase; has no effect if it is the current one. */
  protected final void enter(P phase) {
    enter(phase, now());
  }

  /** Enters a phase that another object reports with its time. */
  protected final void enter(P phase, Instant time) {
    PhaseLog<P> log = PhaseLog.of(status);
    status.setPhases(log.entered(phase, time).times());
    status.setPhase(phase);
  }

  /** Reports another aspect of a finished request; reason and message stay. */
  public final void also(ConditionType type, ConditionValue truth, Reason reason, String message) {
    // A report without a summary does not change reason and message.
    report().also(type, truth, reason, message).writeTo(status);
  }

  /** Reports whether a raised memory limit was lowered again. */
  public final void roomReturned(boolean done, String message) {
    also(
        ConditionType.ROOM_RETURNED,
        done ? ConditionValue.TRUE : ConditionValue.FALSE,
        done ? Reason.LIMIT_RETURNED : Reason.LIMIT_RAISED,
        message);
  }

  /** Returns a report on the request; with its summary. */
  protected final Report report() {
    long generation = Objects.requireNonNullElse(request.getMetadata().getGeneration(), 1L);
    return new Report(status, summary, generation, clock);
  }

  protected final Instant now() {
    return clock.instant();
  }
}
