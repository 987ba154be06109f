package dev.stasis.agent.engine;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The caller's control of a running operation: cancel and deadline. Both take effect between steps
 * and never during a driver call, because a killed call only ends our waiting, not the driver's
 * work.
 */
public final class OperationControl {

  private final Clock clock;
  private final Instant deadline;
  private final @Nullable Duration maxFrozen;
  private final AtomicReference<@Nullable String> cancelled = new AtomicReference<>();
  private volatile @Nullable Instant frozenUntil;
  private volatile Question toldToEnd = Optional::empty;

  /** A question asked while the workload is frozen. */
  @FunctionalInterface
  public interface Question {

    /**
     * @return why the artifact must not be kept, in one sentence; empty if it may
     * @throws InterruptedException if the agent is stopping; everything is undone
     */
    Optional<String> answer() throws InterruptedException;
  }

  private OperationControl(Clock clock, Instant deadline, @Nullable Duration maxFrozen) {
    this.clock = clock;
    this.deadline = deadline;
    this.maxFrozen = maxFrozen;
  }

  /** An operation that must finish within {@code limit}. */
  public static OperationControl within(Clock clock, Duration limit) {
    return new OperationControl(clock, clock.instant().plus(limit), null);
  }

  /**
   * An operation that must finish by {@code deadline}, with a workload that may not be frozen for
   * longer than {@code maxFrozen}, independently of earlier waits.
   */
  public static OperationControl until(
      Clock clock, Instant deadline, @Nullable Duration maxFrozen) {
    return new OperationControl(clock, deadline, maxFrozen);
  }

  /** Cancels the operation at its next step; {@code who} is named in the outcome. */
  public void cancel(String who) {
    cancelled.compareAndSet(null, who);
  }

  /**
   * Sets a question that is asked once the artifact is written and before it counts: whether the
   * workload was told to end meanwhile. The workload is frozen until the answer arrives.
   */
  public void ask(Question question) {
    toldToEnd = question;
  }

  /** Asks the question: a workload that was told to end must not be kept as a running one. */
  void checkStillMeant() throws StepFailure, InterruptedException {
    Optional<String> why = toldToEnd.answer();
    if (why.isPresent()) {
      throw new StepFailure(Reason.TOLD_TO_END, why.get());
    }
  }

  /** The workload is frozen from now on. */
  void freezes() {
    if (maxFrozen != null) {
      frozenUntil = clock.instant().plus(maxFrozen);
    }
  }

  /** Ends the forward steps if the operation is canceled or its deadline has passed. */
  void check(String next) throws StepFailure {
    String who = cancelled.get();
    if (who != null) {
      throw new StepFailure(Reason.CANCELLED, "cancelled by " + who + " before step " + next);
    }
    if (clock.instant().isAfter(deadline)) {
      throw new StepFailure(
          Reason.DEADLINE_EXCEEDED, "the deadline " + deadline + " passed before step " + next);
    }
    Instant until = frozenUntil;
    if (until != null && clock.instant().isAfter(until)) {
      throw new StepFailure(
          Reason.FROZEN_TOO_LONG,
          "freeze time: expected at most %s s, got more before step %s"
              .formatted(Objects.requireNonNull(maxFrozen).toSeconds(), next));
    }
  }
}
