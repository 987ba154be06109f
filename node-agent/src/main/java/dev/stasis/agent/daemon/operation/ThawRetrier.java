package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkloadInspector;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Retries the thaw of workloads that an operation left frozen at its end, until they run or are
 * gone, and reports that in the operation. Other workloads are not touched: suspended, held,
 * ending, or frozen by a user.
 */
final class ThawRetrier implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(ThawRetrier.class.getName());

  private final AgentParts parts;
  private final PublishedArtifact published;
  private final Intervals.Backoff backoff;
  private final OperationRecorder recorder;
  private final AfterHooks hooks;
  private final BiConsumer<ActiveOperation, Runnable> turns;
  private final Map<String, ActiveOperation> tried = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, new DaemonThreads("thaw-again"));

  /**
   * Retries.
   *
   * @param turns runs an action when its operation's GPUs are free
   */
  ThawRetrier(
      AgentParts parts,
      OperationRecorder recorder,
      AfterHooks hooks,
      BiConsumer<ActiveOperation, Runnable> turns) {
    this.parts = parts;
    this.published = new PublishedArtifact(parts);
    this.backoff = parts.intervals().thaw();
    this.recorder = recorder;
    this.hooks = hooks;
    this.turns = turns;
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    parts.metrics().leftFrozen(parts.nodeName(), tried.keySet());
  }

  /** Starts to retry the thaw after a wait, if the operation has left its workload frozen. */
  void begin(ActiveOperation operation, Duration wait) {
    if (operation.leftFrozen() && tried.putIfAbsent(operation.uid(), operation) == null) {
      LOG.log(
          Level.WARNING,
          "{0} has left its workload frozen: retrying in {1}",
          operation.name(),
          wait);
      after(wait, operation, backoff.first());
    }
  }

  /** Begins to retry the thaw, after the first wait of the backoff. */
  void begin(ActiveOperation operation) {
    begin(operation, backoff.first());
  }

  private void after(Duration wait, ActiveOperation operation, Duration next) {
    try {
      var unused =
          timer.schedule(
              () -> ask(operation, next), Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.log(Level.INFO, "the thaw of {0} is left to the next agent", operation.name());
    }
  }

  /** Requests the GPUs; a failure is retried. */
  private void ask(ActiveOperation operation, Duration next) {
    try {
      turns.accept(operation, () -> attempt(operation, next));
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "Cannot thaw " + operation.name(), e);
      after(next, operation, backoff.after(next));
    }
  }

  private void attempt(ActiveOperation operation, Duration next) {
    boolean over = false;
    try (OperationLogFields fields = new OperationLogFields(operation, parts.nodeName())) {
      over = isOver(operation);
    } catch (ApiUnreachable e) {
      parts.metrics().thawTried("Unreachable");
      LOG.log(
          Level.WARNING,
          "{0} is not thawed or reported: the API server does not answer: {1}",
          operation.name(),
          e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "Cannot thaw " + operation.name(), e);
    }
    if (over) {
      tried.remove(operation.uid());
    } else {
      LOG.log(Level.INFO, "{0}: retrying in {1}", operation.name(), next);
      after(next, operation, backoff.after(next));
    }
  }

  /** Tries once; returns whether nothing is left to do. */
  private boolean isOver(ActiveOperation operation) throws ApiUnreachable, InterruptedException {
    if (!operation.isOfBoot(parts.engine().bootId())) {
      report(operation, new SourceState(SourceState.Kind.GONE, "the node has rebooted since"), 0);
      return true;
    }
    Optional<Work> work = parts.work(operation.uid());
    String container = work.map(Work::containerId).orElseGet(operation::containerId);
    WorkloadInspector.Seen seen = parts.engine().look().at(container);
    boolean ran = seen.state().kind() == SourceState.Kind.RUNNING;
    if (work.isPresent() && mayThaw(operation, work.get(), seen.state())) {
      if (!ran
          && seen.state().kind() != SourceState.Kind.GONE
          && parts.engine().interruptedPublication().complete(work.get())) {
        // Its store failed before. It is named now, because the thaw may end the workload.
        report(operation, seen.state(), seen.processes());
      }
      ThawOutcome outcome = parts.engine().thaw().run(operation.uid(), StepListener.NONE);
      parts.metrics().thawTried(word(outcome));
      LOG.log(
          Level.WARNING,
          "Thaw of {0} retried for {1}: {2}",
          operation.name(),
          operation.owner(),
          outcome);
      SourceState.Kind after =
          outcome instanceof ThawOutcome.Ended ended
              ? ended.state().kind()
              : SourceState.Kind.UNKNOWN;
      // It may end as soon as it runs.
      ran |= after == SourceState.Kind.RUNNING;
      seen = parts.engine().look().at(container);
      if (seen.state().kind() == SourceState.Kind.GONE
          && after != SourceState.Kind.GONE
          && after != SourceState.Kind.RUNNING) {
        if (outcome instanceof ThawOutcome.Ended unknown
            && operation.status().getWorkload() == WorkloadState.FROZEN) {
          report(operation, unknown.state(), 0);
        }
        // It ended just now, or its stage is the only copy and cannot be published yet: the next
        // attempt publishes it, and removes its record.
        return false;
      }
    }
    if (ran) {
      releaseGpus(operation);
    }
    // A user may have thawed it too, or its kubelet ended it.
    SourceState.Kind kind = seen.state().kind();
    if (kind != SourceState.Kind.RUNNING && kind != SourceState.Kind.GONE) {
      return false;
    }
    report(operation, seen.state(), seen.processes());
    return true;
  }

  /**
   * Releases its GPUs, which were fenced until their driver was seen to restore it. Those of
   * another workload that is still frozen stay fenced.
   */
  void releaseGpus(ActiveOperation operation) {
    OperationPod pod = operation.pod();
    PodLookup lookup = new PodLookup(parts);
    try {
      List<GpuUuid> own = parts.gpus().of(pod.namespace(), pod.name(), pod.containerName());
      Set<GpuUuid> inUse = new HashSet<>();
      tried.values().stream()
          .filter(other -> !other.uid().equals(operation.uid()))
          .forEach(other -> inUse.addAll(lookup.gpus(other).orElseGet(() -> Set.copyOf(own))));
      own.stream()
          .filter(gpu -> !inUse.contains(gpu))
          .forEach(gpu -> parts.quarantine().release(gpu.text()));
    } catch (NodeApiException e) {
      LOG.log(Level.WARNING, "GPUs of {0} remain blocked: {1}", operation.name(), e.getMessage());
    }
  }

  /**
   * Whether no decision is pending, and its pod stays. In a pod that is being deleted nothing is
   * thawed any more: its kubelet ends it, and then only the record is removed.
   */
  private boolean mayThaw(ActiveOperation operation, Work work, SourceState seen)
      throws ApiUnreachable {
    if (!isForgotten(operation, work)) {
      LOG.log(
          Level.WARNING, "{0} is not thawed: its workload is {1}", operation.name(), work.phase());
      return false;
    }
    OperationPod pod = operation.pod();
    if (seen.kind() != SourceState.Kind.GONE && new PodLookup(parts).isDeleted(pod)) {
      parts.metrics().thawTried("PodDeleted");
      LOG.log(Level.INFO, "{0} is not thawed: its pod is being deleted", operation.name());
      return false;
    }
    return true;
  }

  /**
   * Whether no copy of it can run elsewhere and it is not being ended: not the source of a
   * migration that is held until the decision.
   */
  static boolean isForgotten(ActiveOperation operation, Work work) {
    return operation.leftFrozen()
        && work.kind() == Work.Kind.FREEZE
        && work.phase() != Work.Phase.ENDING
        && !work.mayRunElsewhere();
  }

  private void report(ActiveOperation operation, SourceState state, int processes)
      throws ApiUnreachable, InterruptedException {
    GpuNodeOperationStatus said = operation.status();
    // A capture that could not be published at first may have been since.
    Optional<ArtifactStatus> artifact =
        said.getArtifact() == null
            ? published.stored(operation, Work.Phase.WORKING)
            : Optional.of(said.getArtifact());
    Instant now = parts.clock().instant();
    OperationResult result =
        new OperationResult(
                Objects.requireNonNull(said.getPhase()),
                said.getOutcome(),
                Objects.requireNonNullElse(said.getReason(), ""),
                Objects.requireNonNullElse(said.getMessage(), "")
                    + "; retried since: "
                    + state.detail(),
                Objects.requireNonNullElse(said.getFaults(), List.of()),
                null,
                null,
                null,
                status -> {
                  status.setWorkloadTime(now);
                  status.setArtifact(artifact.orElse(null));
                })
            .leaving(state, processes);
    recorder.correct(operation, hooks.after(operation, result));
    LOG.log(Level.INFO, "{0}, which was left frozen: {1}", operation.name(), state.detail());
  }

  private static String word(ThawOutcome outcome) {
    return outcome instanceof ThawOutcome.Ended ended
        ? OperationResult.workload(ended.state()).value()
        : "Busy";
  }

  /** Starts no further attempt. */
  @Override
  public void close() {
    timer.shutdown();
  }
}
