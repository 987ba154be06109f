package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Resume, Thaw and End of what another operation left frozen. */
final class ThawJob implements Job {

  private final AgentParts parts;
  private final Desk desk;
  private final HeldOperations held;
  private final AfterHooks hooks;

  ThawJob(AgentParts parts, Desk desk, HeldOperations held, AfterHooks hooks) {
    this.parts = parts;
    this.desk = desk;
    this.held = held;
    this.hooks = hooks;
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    Named named = new FrozenBefore(parts).of(assignment);
    boolean ends = assignment.type() == OperationType.END;
    if (ends) {
      new DeletedPod(parts).require(assignment.spec());
    }
    if (named.work().isEmpty()) {
      return nothingInHand(assignment, named, ends);
    }
    Work work = named.work().get();
    desk.begin(assignment);
    StepListener ear = new EngineEar(assignment, desk, false, () -> {}, System::nanoTime);
    ThawOutcome outcome =
        ends
            ? parts.engine().evicted().end(work.containerId())
            : parts.engine().thaw().run(work.id(), ear);
    if (!(outcome instanceof ThawOutcome.Ended ended)) {
      return Ending.refused(
          java.util.List.of(
              Faults.of(
                  "Busy",
                  "container " + work.containerId(),
                  "at rest",
                  ((ThawOutcome.NotFound) outcome).why())));
    }
    parts.metrics().steps(assignment.type(), "Memory", ended.timings());
    Ending ending =
        hooks.after(
            assignment,
            named.order(),
            timed(ending(assignment, work, ended.state(), ends), ended.took(), ends));
    if (ending.outcome() == Outcome.DONE) {
      held.decided(named.operation(), ending);
    }
    return ending;
  }

  /**
   * What another operation left frozen.
   *
   * @param operation name of that operation
   * @param order how it froze
   * @param work what the engine has of it; empty when nothing
   */
  record Named(String operation, @Nullable FreezeOrder order, Optional<Work> work) {}

  /** It was done before, by an operation of which nobody heard the end; or it was lost. */
  private Ending nothingInHand(Assignment assignment, Named named, boolean ends)
      throws Refused, IOException, InterruptedException {
    String container;
    try {
      container =
          new PodLookup(parts)
              .place(java.util.Objects.requireNonNull(assignment.spec().getPod()))
              .container()
              .id();
    } catch (Refused gone) {
      if (ends) {
        held.decided(named.operation(), ended(0));
        return ended(0);
      }
      throw gone;
    }
    var seen = parts.engine().look().at(container);
    if (!ends && seen.state().kind() == SourceState.Kind.RUNNING) {
      Ending ending = hooks.after(assignment, named.order(), ran(seen.state(), seen.processes()));
      held.decided(named.operation(), ending);
      return ending;
    }
    throw new Refused(
        Faults.of(
            "NotFrozen",
            "workload of " + named.operation(),
            ends ? "held" : "suspended or held",
            seen.state().detail()));
  }

  private Ending ending(Assignment assignment, Work work, SourceState state, boolean ends)
      throws InterruptedException {
    int processes = parts.engine().look().at(work.containerId()).processes();
    switch (state.kind()) {
      case RUNNING -> {
        return ran(state, processes);
      }
      case GONE -> {
        if (ends) {
          return ended(processes);
        }
        return Ending.failed(
                Outcome.LOST, Faults.inStep("WorkloadGone", step(assignment), state.detail()))
            .leaving(WorkloadState.ENDED, Truth.FALSE, processes);
      }
      case FROZEN, UNKNOWN -> {
        Fault fault = Faults.inStep("NotThawed", step(assignment), state.detail());
        return Ending.failed(Outcome.NOT_UNDONE, fault)
            .leaving(FreezeEnding.workload(state), FreezeEnding.running(state), processes);
      }
    }
    throw new IllegalStateException("a state of no kind: " + state);
  }

  private static Ending timed(Ending ending, Duration took, boolean ends) {
    if (ends || ending.outcome() != Outcome.DONE) {
      return ending;
    }
    CheckpointTimings timings = new CheckpointTimings();
    timings.setResumeMilliseconds(took.toMillis());
    return ending.with(status -> status.setTimings(timings));
  }

  private static String step(Assignment assignment) {
    return assignment.type().word().toLowerCase(java.util.Locale.ROOT);
  }

  private static Ending ran(SourceState state, int processes) {
    return Ending.done("Running", state.detail())
        .leaving(WorkloadState.RUNNING, Truth.TRUE, processes);
  }

  private static Ending ended(int processes) {
    return Ending.done("Ended", "the processes of the workload have ended")
        .leaving(WorkloadState.ENDED, Truth.FALSE, processes);
  }
}
