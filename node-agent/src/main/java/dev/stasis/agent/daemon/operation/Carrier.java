package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Look;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Carries an operation out whose turn has come, and writes down how it ended. */
final class Carrier {

  private static final System.Logger LOG = System.getLogger(Carrier.class.getName());

  /** An API server, a runtime or a kubelet that starts anew is back within seconds. */
  private static final Duration ASK_AGAIN = Duration.ofSeconds(2);

  private final AgentParts parts;
  private final Desk desk;
  private final Map<OperationType, Job> jobs;
  private final Consumer<Assignment> leaveGpus;
  private final Settlement settlement;

  /**
   * Carries out what those jobs can do.
   *
   * @param leaveGpus lets others have the GPUs of one that still has something to wait for
   */
  Carrier(
      AgentParts parts, Desk desk, Map<OperationType, Job> jobs, Consumer<Assignment> leaveGpus) {
    this.parts = parts;
    this.desk = desk;
    this.jobs = Map.copyOf(jobs);
    this.leaveGpus = leaveGpus;
    this.settlement = new Settlement(parts);
  }

  /** One of the two things that are done for an operation. */
  private interface Stage {
    Optional<Ending> of(Job job) throws Refused, Stopped, IOException, InterruptedException;
  }

  /**
   * Does what comes before its turn on the GPUs.
   *
   * @return whether it wants its turn; not when it ended, or is left to the successor
   */
  boolean prepare(Assignment assignment) {
    return carry(assignment, job -> job.prepare(assignment))
        && !assignment.isRolledOut()
        && !Thread.currentThread().isInterrupted();
  }

  /** To its end; an operation that the agent's own end stopped early is left to the successor. */
  void carryOut(Assignment assignment) {
    carry(assignment, job -> Optional.of(job.run(assignment)));
  }

  /** Returns whether it has no end yet. */
  private boolean carry(Assignment assignment, Stage stage) {
    try (LogFields fields = LogFields.of(assignment, parts.nodeName())) {
      LOG.log(System.Logger.Level.INFO, "{0} begins", assignment.name());
      Optional<Ending> found = ending(assignment, stage);
      if (found.isPresent()) {
        Ending ending = withHooks(assignment, found.get());
        desk.end(assignment, ending);
        parts.traces().ended(assignment, ending);
        LOG.log(
            System.Logger.Level.INFO,
            "{0}: {1}, {2}: {3}",
            assignment.name(),
            ending.phase(),
            ending.reason(),
            ending.message());
      }
      return found.isEmpty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | LinkageError e) {
      LOG.log(System.Logger.Level.ERROR, "the end of " + assignment.name(), e);
    }
    return false;
  }

  /** Hooks before the freeze are followed by those after it, also when there was none. */
  private Ending withHooks(Assignment assignment, Ending ending) {
    boolean over =
        ending.phase() != OperationPhase.HELD
            && (ending.workload() == null || ending.workload() == WorkloadState.RUNNING);
    if (assignment.hooks().isEmpty() || !over) {
      return ending;
    }
    FreezeHooks hooks = assignment.hooks().get();
    hooks.beginAfter();
    leaveGpus.accept(assignment);
    List<String> failures = hooks.failures();
    // Those for which it was refused are its reason already.
    return failures.isEmpty() || ending.reason().equals("HookFailed")
        ? ending
        : AfterHooks.failed(ending, String.join("; ", failures));
  }

  private Optional<Ending> ending(Assignment assignment, Stage stage) throws InterruptedException {
    try {
      return tried(assignment, stage);
    } catch (Refused refused) {
      return Optional.of(untouched(assignment, Ending.refused(refused.faults())));
    } catch (Stopped stopped) {
      if (assignment.isRolledOut()) {
        assignment.hooks().ifPresent(FreezeHooks::beginAfter);
        return Optional.empty();
      }
      String reason = stopped.outOfTime() ? "DeadlineExceeded" : "Cancelled";
      Ending ending =
          Ending.failed(
              Outcome.UNDONE, Faults.inStep(reason, "wait", String.valueOf(stopped.getMessage())));
      return Optional.of(
          untouched(
              assignment, stopped.outOfTime() ? ending : ending.in(OperationPhase.CANCELLED)));
      // A class that is missing or does not fit, as in an image made wrongly, ends an operation
      // too:
      // otherwise it would never end.
    } catch (RuntimeException | LinkageError fault) {
      LOG.log(System.Logger.Level.ERROR, assignment.name(), fault);
      String why = "a fault of the agent: " + fault;
      if (assignment.entry().stage() == JournalEntry.Stage.BEGUN
          && (assignment.spec().getFreeze() != null
              || assignment.type() == OperationType.RESTORE)) {
        return Optional.of(settlement.of(assignment, "Internal", why));
      }
      return Optional.of(
          untouched(assignment, Ending.refused(List.of(Faults.inStep("Internal", "begin", why)))));
    }
  }

  /** Asks again while somebody who has to be asked does not answer. */
  private Optional<Ending> tried(Assignment assignment, Stage stage)
      throws Refused, Stopped, InterruptedException {
    while (true) {
      if (assignment.isCancelled()) {
        throw new Stopped("cancelled before it began", false);
      }
      if (parts.clock().instant().isAfter(assignment.deadline())) {
        throw new Stopped("the deadline passed before it began", true);
      }
      try {
        Job job = jobs.get(assignment.type());
        if (job == null) {
          throw new Refused(
              Faults.of(
                  Faults.PREFLIGHT_REFUSED,
                  "type",
                  "one that this agent can do",
                  assignment.type().word()));
        }
        return stage.of(job);
      } catch (IOException e) {
        LOG.log(System.Logger.Level.WARNING, "{0} waits: {1}", assignment.name(), e.getMessage());
        if (assignment.awaitCancel(ASK_AGAIN)) {
          throw new Stopped("cancelled before it began", false);
        }
      }
    }
  }

  /** Says what the workload does of which nothing was touched, where it was found. */
  private Ending untouched(Assignment assignment, Ending ending) throws InterruptedException {
    String container = assignment.report().copy().getContainerId();
    if (ending.workload() != null || container == null || assignment.spec().getFreeze() == null) {
      return ending;
    }
    Look.Seen seen = parts.engine().look().at(container);
    return ending.leaving(
        FreezeEnding.workload(seen.state()), FreezeEnding.running(seen.state()), seen.processes());
  }
}
