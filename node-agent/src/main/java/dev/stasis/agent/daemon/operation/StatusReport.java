package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** What is to be said of an operation. The engine changes it; a writer of its own publishes it. */
final class StatusReport {

  private final OperationJson json = new OperationJson();
  private final Clock clock;
  private final GpuNodeOperationStatus status;

  /** Goes on from what was said before. */
  StatusReport(Clock clock, GpuNodeOperationStatus before) {
    this.clock = clock;
    this.status = json.copy(before);
  }

  /** Changes it. */
  synchronized void change(Consumer<GpuNodeOperationStatus> change) {
    change.accept(status);
  }

  /** Does something with it of which a {@link #copy} shows all or nothing. */
  synchronized void inOne(Runnable deed) {
    deed.run();
  }

  /**
   * Enters a phase, by way of the one that has to lie between.
   *
   * @throws IllegalStateException when that phase cannot follow
   */
  synchronized void enter(OperationPhase phase) {
    OperationPhase now = phase();
    if (now == phase) {
      return;
    }
    if (!now.successors().contains(phase)) {
      OperationPhase between =
          switch (phase) {
            case SUCCEEDED, HELD -> OperationPhase.RUNNING;
            case CANCELLED -> OperationPhase.UNDOING;
            default ->
                throw new IllegalStateException("phase: after %s no %s".formatted(now, phase));
          };
      enter(between);
    }
    Instant second = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    List<PhaseTime<OperationPhase>> all =
        new ArrayList<>(Objects.requireNonNullElse(status.getPhases(), List.of()));
    all.add(new PhaseTime<>(phase, second));
    status.setPhases(all);
    status.setPhase(phase);
  }

  synchronized OperationPhase phase() {
    return Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
  }

  /** As it is now, without control characters in what people read. */
  synchronized GpuNodeOperationStatus copy() {
    return json.printable(status);
  }
}
