package dev.stasis.agent.engine;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The caller's hold on a running operation: cancel and deadline. Both act between steps and never
 * inside a driver call, since a killed call only ends our waiting, not the driver's work.
 */
public final class OperationControl {

  private final Clock clock;
  private final @Nullable Instant deadline;
  private final @Nullable Duration maxFrozen;
  private final AtomicReference<@Nullable String> cancelled = new AtomicReference<>();
  private volatile @Nullable Instant frozenUntil;
  private volatile Question toldToEnd = Optional::empty;

  /** Something that is asked while the workload stands still. */
  @FunctionalInterface
  public interface Question {

    /**
     * @return why what was written down is not wanted, in one sentence; empty: it is
     * @throws InterruptedException the agent is stopping; everything is undone
     */
    Optional<String> answer() throws InterruptedException;
  }

  private OperationControl(Clock clock, @Nullable Instant deadline, @Nullable Duration maxFrozen) {
    this.clock = clock;
    this.deadline = deadline;
    this.maxFrozen = maxFrozen;
  }

  /** An operation that must be over within {@code limit}. */
  public static OperationControl within(Clock clock, Duration limit) {
    return new OperationControl(clock, clock.instant().plus(limit), null);
  }

  /**
   * An operation that must be over at {@code deadline}, and whose workload may not stand still for
   * longer than {@code maxFrozen}, whatever it waited before.
   */
  public static OperationControl until(
      Clock clock, Instant deadline, @Nullable Duration maxFrozen) {
    return new OperationControl(clock, deadline, maxFrozen);
  }

  /** An operation without a deadline of its own, as a rollback is. */
  public static OperationControl unbounded(Clock clock) {
    return new OperationControl(clock, null, null);
  }

  /** Asks the operation to stop at its next step; {@code who} is named in the outcome. */
  public void cancel(String who) {
    cancelled.compareAndSet(null, who);
  }

  /**
   * Has somebody asked, once the workload is written down and before that counts, whether it was
   * told to end meanwhile. The workload stands still for as long as the answer takes.
   */
  public void ask(Question question) {
    toldToEnd = question;
  }

  /** Asks: nothing that was told to end is kept as something that runs. */
  void checkStillMeant() throws StepFailure, InterruptedException {
    Optional<String> why = toldToEnd.answer();
    if (why.isPresent()) {
      throw new StepFailure(Reason.TOLD_TO_END, why.get());
    }
  }

  /** The time left, at most {@code most}. */
  Duration atMost(Duration most) {
    if (deadline == null) {
      return most;
    }
    Duration left = Duration.between(clock.instant(), deadline);
    if (left.isNegative()) {
      return Duration.ZERO;
    }
    return left.compareTo(most) < 0 ? left : most;
  }

  /** Who cancelled it; empty when nobody did. */
  public Optional<String> cancelled() {
    return Optional.ofNullable(cancelled.get());
  }

  /** From now on the workload stands still. */
  void freezes() {
    if (maxFrozen != null) {
      frozenUntil = clock.instant().plus(maxFrozen);
    }
  }

  /** Ends the forward way when the caller wants it ended. */
  void check(String next) throws StepFailure {
    String who = cancelled.get();
    if (who != null) {
      throw new StepFailure(Reason.CANCELLED, "cancelled by " + who + " before step " + next);
    }
    if (deadline != null && clock.instant().isAfter(deadline)) {
      throw new StepFailure(
          Reason.DEADLINE_EXCEEDED, "the deadline " + deadline + " passed before step " + next);
    }
    Instant until = frozenUntil;
    if (until != null && clock.instant().isAfter(until)) {
      throw new StepFailure(
          Reason.FROZEN_TOO_LONG,
          "time for which the workload stands still: wanted at most %s s, found more before step %s"
              .formatted(Objects.requireNonNull(maxFrozen).toSeconds(), next));
    }
  }
}
