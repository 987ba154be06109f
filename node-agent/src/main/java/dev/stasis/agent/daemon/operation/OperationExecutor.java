package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Executes operations through their jobs, and records the results. */
final class OperationExecutor {

  private static final System.Logger LOG = System.getLogger(OperationExecutor.class.getName());

  /** An API server, a runtime or a kubelet that restarts is back within seconds. */
  private static final Duration ASK_AGAIN = Duration.ofSeconds(2);

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Map<OperationType, Job> jobs;
  private final Consumer<ActiveOperation> leaveGpus;
  private final Consumer<ActiveOperation> endLater;
  private final InterruptedOperationRecovery recovery;

  /**
   * Executes the operations that these jobs implement.
   *
   * @param leaveGpus releases the GPUs of an operation that only waits
   * @param endLater recovers an operation later that could not be ended
   */
  OperationExecutor(
      AgentParts parts,
      OperationRecorder recorder,
      Map<OperationType, Job> jobs,
      Consumer<ActiveOperation> leaveGpus,
      Consumer<ActiveOperation> endLater) {
    this.parts = parts;
    this.recorder = recorder;
    this.jobs = Map.copyOf(jobs);
    this.leaveGpus = leaveGpus;
    this.endLater = endLater;
    this.recovery = new InterruptedOperationRecovery(parts);
  }

  /** The part of a job to execute: its preparation, or the job itself. */
  private interface Stage {
    Optional<OperationResult> of(Job job)
        throws Refused, Job.Stopped, IOException, InterruptedException;
  }

  /**
   * Executes the part before the operation occupies the GPUs.
   *
   * @return whether it needs the GPUs; not if it ended, or is left to the successor
   */
  boolean prepare(ActiveOperation operation) {
    return carry(operation, job -> job.prepare(operation))
        && !operation.isRolledOut()
        && !Thread.currentThread().isInterrupted();
  }

  /**
   * Executes it to its end; an operation that a rollout of the agent stopped is left to the
   * successor.
   */
  void carryOut(ActiveOperation operation) {
    carry(operation, job -> Optional.of(job.run(operation)));
  }

  /** Returns whether it is unfinished. */
  private boolean carry(ActiveOperation operation, Stage stage) {
    try (OperationLogFields fields = new OperationLogFields(operation, parts.nodeName())) {
      LOG.log(Level.INFO, "{0} begins", operation.name());
      Optional<OperationResult> found = result(operation, stage);
      if (found.isPresent()) {
        OperationResult result = withHooks(operation, found.get());
        recorder.end(operation, result);
        parts.traces().ended(operation, result);
        LOG.log(
            Level.INFO,
            "{0}: {1}, {2}: {3}",
            operation.name(),
            result.phase(),
            result.reason(),
            result.message());
      }
      return found.isEmpty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "the end of " + operation.name(), e);
      if (operation.stage() == OperationStage.CLAIMED
          || operation.stage() == OperationStage.BEGUN) {
        operation.fault(faultOf(e));
        endLater.accept(operation); // Its workload must not stay frozen.
      }
    }
    return false;
  }

  /** Hooks after the freeze follow those before it, even if there was no freeze. */
  private OperationResult withHooks(ActiveOperation operation, OperationResult result) {
    boolean over =
        result.phase() != OperationPhase.HELD
            && (result.workload() == null || result.workload() == WorkloadState.RUNNING);
    if (operation.hooks().isEmpty() || !over) {
      return result;
    }
    FreezeHooks hooks = operation.hooks().get();
    hooks.beginAfter();
    leaveGpus.accept(operation);
    List<String> failures = hooks.failures();
    // The faults of a refusal are its reason already.
    return failures.isEmpty() || result.reason().equals("HookFailed")
        ? result
        : AfterHooks.failed(result, String.join("; ", failures));
  }

  private Optional<OperationResult> result(ActiveOperation operation, Stage stage)
      throws InterruptedException {
    try {
      return tried(operation, stage);
    } catch (Refused refused) {
      return Optional.of(untouched(operation, OperationResult.refused(refused.faults())));
    } catch (Job.Stopped stopped) {
      if (operation.isRolledOut()) {
        operation.hooks().ifPresent(FreezeHooks::beginAfter);
        return Optional.empty();
      }
      String reason = stopped.outOfTime() ? "DeadlineExceeded" : "Cancelled";
      OperationResult result =
          OperationResult.failed(
              Outcome.UNDONE, Faults.inStep(reason, "wait", String.valueOf(stopped.getMessage())));
      return Optional.of(
          untouched(operation, stopped.outOfTime() ? result : result.in(OperationPhase.CANCELLED)));
      // A missing or incompatible class, as in a broken image, or a thread that cannot be created
      // also ends an operation: otherwise it would never end.
    } catch (RuntimeException | Error fault) {
      LOG.log(Level.ERROR, operation.name(), fault);
      String why = faultOf(fault);
      if (operation.stage() == OperationStage.BEGUN
          && (operation.spec().getFreeze() != null || operation.type() == OperationType.RESTORE)) {
        return Optional.of(recovery.of(operation, Faults.INTERNAL, why));
      }
      return Optional.of(
          untouched(
              operation,
              OperationResult.refused(List.of(Faults.inStep(Faults.INTERNAL, "begin", why)))));
    }
  }

  private static String faultOf(Throwable fault) {
    return "a fault of the agent: " + fault;
  }

  /** Retries while the API server, the runtime or the kubelet does not answer. */
  private Optional<OperationResult> tried(ActiveOperation operation, Stage stage)
      throws Refused, Job.Stopped, InterruptedException {
    while (true) {
      operation.requireTime("before it began");
      try {
        Job job = jobs.get(operation.type());
        if (job == null) {
          throw new Refused(
              Faults.PREFLIGHT_REFUSED,
              "type",
              "one that this agent supports",
              operation.type().value());
        }
        return stage.of(job);
      } catch (IOException e) {
        LOG.log(Level.WARNING, "{0} waits: {1}", operation.name(), e.getMessage());
        var unused = operation.awaitCancel(ASK_AGAIN);
      }
    }
  }

  /** Adds the observed state of a workload that was not changed. */
  private OperationResult untouched(ActiveOperation operation, OperationResult result)
      throws InterruptedException {
    String container = operation.status().getContainerId();
    if (result.workload() != null || container == null || operation.spec().getFreeze() == null) {
      return result;
    }
    return result.leaving(parts.engine().look().at(container));
  }
}
