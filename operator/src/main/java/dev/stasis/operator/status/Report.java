package dev.stasis.operator.status;

import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import dev.stasis.api.v1alpha1.common.Truth;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One look at one object, put into its status: the summary condition of its kind, what else is
 * known, and the words for the columns. The summary is Unknown while the work goes on, and False
 * only when that is final.
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
    List<Condition> known = Objects.requireNonNullElse(before.getConditions(), List.of());
    this.conditions = new Conditions(known);
  }

  /** It is at work, or waits for something that may still come. */
  public Report working(Reason why, String sentence) {
    return summarise(Truth.UNKNOWN, why, sentence).drop(ConditionType.FAILED);
  }

  /** It is done. */
  public Report done(Reason why, String sentence) {
    return summarise(Truth.TRUE, why, sentence).drop(ConditionType.FAILED);
  }

  /** It has come to its end, or rests, without that for which its summary stands; no failure. */
  public Report notReached(Reason why, String sentence) {
    return summarise(Truth.FALSE, why, sentence).drop(ConditionType.FAILED);
  }

  /** It could not be done, and nothing more will be tried. */
  public Report failed(Reason why, String sentence) {
    return summarise(Truth.FALSE, why, sentence)
        .also(ConditionType.FAILED, Truth.TRUE, why, sentence);
  }

  /** One more aspect. */
  public Report also(ConditionType type, Truth status, Reason why, String sentence) {
    conditions = conditions.with(type, status, why, sentence, generation, clock.instant());
    return this;
  }

  /** An aspect that no longer says anything. */
  public Report drop(ConditionType type) {
    conditions = conditions.without(type);
    return this;
  }

  /** Puts it there; the columns say what the summary says, and stay when nothing is said of it. */
  public void writeTo(ConditionedStatus status) {
    status.setObservedGeneration(generation);
    status.setConditions(conditions.list());
    if (reason != null) {
      status.setReason(reason.column());
      status.setMessage(message);
    }
  }

  private Report summarise(Truth status, Reason why, String sentence) {
    reason = why;
    message = sentence;
    return also(summary, status, why, sentence);
  }
}
