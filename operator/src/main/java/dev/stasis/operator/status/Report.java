package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import java.time.Clock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The report of one reconciliation: the summary condition of the kind, other conditions, and the
 * text of the columns. The summary is False until the object is in its state; Reconciling, Failed
 * and Stalled tell whether it is still on the way.
 */
public final class Report {

  private final ConditionType summary;
  private final long generation;
  private final Clock clock;
  private Conditions conditions;
  private @Nullable Reason reason;
  private String message = "";

  /**
   * @param before the status as it was read
   * @param summary {@link ConditionType#READY} of a GpuCheckpoint, else {@link
   *     ConditionType#SUCCEEDED}
   * @param generation metadata.generation of the object that was looked at
   */
  public Report(ConditionedStatus before, ConditionType summary, long generation, Clock clock) {
    this.summary = summary;
    this.generation = generation;
    this.clock = clock;
    this.conditions = Conditions.of(before);
  }

  /** It is in progress, or waits for something that may still happen. */
  public Report working(Reason why, String sentence) {
    return reconciling(ConditionValue.FALSE, why, sentence);
  }

  /** The same, while what was reached before is still so. */
  public Report workingAgain(Reason why, String sentence, Reason reached, String what) {
    return reconciling(ConditionValue.TRUE, why, sentence)
        .also(summary, ConditionValue.TRUE, reached, what);
  }

  /** It has succeeded. */
  public Report done(Reason why, String sentence) {
    return ended(ConditionValue.TRUE, why, sentence).drop(ConditionType.STALLED);
  }

  /**
   * It is in the state that was asked for, which is not that of its summary: suspended, paused, a
   * dry run. The summary is absent, because a False one is read as work in progress.
   */
  public Report rests(Reason why, String sentence) {
    return notReached(why, sentence).drop(summary);
  }

  /** It is not in the state of its summary, and may reach it by itself. */
  public Report notReached(Reason why, String sentence) {
    return ended(ConditionValue.FALSE, why, sentence).drop(ConditionType.STALLED);
  }

  /**
   * It does not reach the state of its summary unless its user changes it: it is invalid, or was
   * cancelled.
   */
  public Report stalled(Reason why, String sentence) {
    return ended(ConditionValue.FALSE, why, sentence)
        .also(ConditionType.STALLED, ConditionValue.TRUE, why, "");
  }

  /** It failed, and nothing more is tried. */
  public Report failed(Reason why, String sentence) {
    return summarise(ConditionValue.FALSE, why, sentence)
        .also(ConditionType.FAILED, ConditionValue.TRUE, why, sentence)
        .also(ConditionType.STALLED, ConditionValue.TRUE, why, "")
        .drop(ConditionType.RECONCILING);
  }

  /** What was reached before is still so, although the last attempt failed. */
  public Report keeps(Reason why, String sentence) {
    return also(summary, ConditionValue.TRUE, why, sentence);
  }

  public Report also(ConditionType type, ConditionValue status, Reason why, String sentence) {
    conditions = conditions.with(type, status, why, sentence, generation, clock.instant());
    return this;
  }

  /** Adds whether the frozen workload runs in its original place. */
  public Report source(ConditionValue runs, Reason why, String sentence) {
    return also(ConditionType.SOURCE_RUNNING, runs, why, sentence);
  }

  /** Adds that a memory limit must be lowered again. */
  public Report limitRaised(String sentence) {
    return also(ConditionType.ROOM_RETURNED, ConditionValue.FALSE, Reason.LIMIT_RAISED, sentence);
  }

  public Optional<Condition> find(ConditionType type) {
    return conditions.find(type);
  }

  /** An aspect that no longer says anything. */
  public Report drop(ConditionType type) {
    conditions = conditions.without(type);
    return this;
  }

  /** Writes it into the status; the columns show the summary, and are kept if there is none. */
  public void writeTo(ConditionedStatus status) {
    status.setObservedGeneration(generation);
    status.setConditions(conditions.list());
    if (reason != null) {
      status.setReason(reason.value());
      status.setMessage(message);
    }
  }

  private Report reconciling(ConditionValue status, Reason why, String sentence) {
    return summarise(status, why, sentence)
        .also(ConditionType.RECONCILING, ConditionValue.TRUE, why, "")
        .drop(ConditionType.STALLED)
        .drop(ConditionType.FAILED);
  }

  private Report ended(ConditionValue status, Reason why, String sentence) {
    return summarise(status, why, sentence)
        .drop(ConditionType.FAILED)
        .drop(ConditionType.RECONCILING);
  }

  private Report summarise(ConditionValue status, Reason why, String sentence) {
    reason = why;
    message = sentence;
    return also(summary, status, why, sentence);
  }
}
