package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The operations of this agent from their claim until their end is stored in the API server. Each
 * waits for its GPUs, is executed, may be held until a decision, and can be canceled at any time.
 */
final class ActiveOperations {

  private static final System.Logger LOG = System.getLogger(ActiveOperations.class.getName());

  private final AgentParts parts;
  private final OperationEventLoop eventLoop;
  private final Consumer<ActiveOperation> over;
  private final StatusWriter writer;
  private final OperationRecorder recorder;
  private final ExecutorService workers =
      Executors.newCachedThreadPool(new DaemonThreads("operation"));
  // Background tasks of running operations; they continue when no further operation is started.
  private final ExecutorService helpers =
      Executors.newCachedThreadPool(new DaemonThreads("operation-helper"));
  private final GpuQueue queue;
  private final OperationExecutor executor;
  private final InterruptedOperationRecovery recovery;
  private final HoldTimeout holdTimeout;
  private final AfterHooks hooks;
  private final ThawRetrier thawRetrier;
  private final Map<String, ActiveOperation> byUid = new ConcurrentHashMap<>();
  private volatile boolean stopping;

  ActiveOperations(AgentParts parts, OperationEventLoop eventLoop, Consumer<ActiveOperation> over) {
    this.parts = parts;
    this.eventLoop = eventLoop;
    this.over = over;
    this.queue = new GpuQueue(workers, eventLoop::later);
    this.recovery = new InterruptedOperationRecovery(parts);
    this.writer = new StatusWriter(parts.cluster(), parts.intervals(), this::endIsWritten);
    this.recorder =
        new OperationRecorder(parts.engine().thaw()::describe, writer, parts.frozenChanged());
    this.hooks = new AfterHooks(parts, this::leaveGpus);
    this.holdTimeout = new HoldTimeout(parts, recorder, hooks);
    this.thawRetrier = new ThawRetrier(parts, recorder, hooks, this::enqueue);
    // An upload, or a download, needs up to half of the heap that this program's own objects leave.
    Semaphore uploads = new Semaphore(1, true);
    Semaphore downloads = new Semaphore(1, true);
    UnfinishedArtifacts unfinished = new UnfinishedArtifacts();
    FreezeJob freeze = new FreezeJob(parts, recorder, helpers, unfinished, this::leaveGpus);
    ThawJob thaw = new ThawJob(parts, recorder, this, hooks);
    this.executor =
        new OperationExecutor(
            parts,
            recorder,
            Map.ofEntries(
                Map.entry(OperationType.CHECKPOINT, freeze),
                Map.entry(OperationType.SUSPEND, freeze),
                Map.entry(OperationType.RESUME, thaw),
                Map.entry(OperationType.THAW, thaw),
                Map.entry(OperationType.END, thaw),
                Map.entry(OperationType.RESTORE, new RestoreJob(parts, recorder, helpers)),
                Map.entry(OperationType.SEND, new SendJob(parts, recorder, helpers, unfinished)),
                Map.entry(OperationType.RECEIVE, new ReceiveJob(parts, recorder)),
                Map.entry(OperationType.IMPORT, new ImportJob(parts, recorder, downloads)),
                Map.entry(OperationType.UPLOAD, new UploadJob(parts, recorder, uploads)),
                Map.entry(OperationType.DOWNLOAD, new DownloadJob(parts, recorder, downloads)),
                Map.entry(OperationType.VERIFY, new VerifyJob(parts, recorder, uploads)),
                Map.entry(OperationType.RETAIN_ARTIFACT, new RetainJob(parts, recorder)),
                Map.entry(OperationType.DELETE_ARTIFACT, new DeleteJob(parts, recorder))),
            this::leaveGpus,
            operation -> eventLoop.later(() -> settleLater(operation)));
  }

  Optional<ActiveOperation> find(String uid) {
    return Optional.ofNullable(byUid.get(uid));
  }

  Map<String, ActiveOperation> all() {
    return Map.copyOf(byUid);
  }

  /** Adds a claimed operation: one to execute, to recover after a restart, or only to report. */
  void take(ActiveOperation operation) {
    byUid.put(operation.uid(), operation);
    try {
      switch (operation.stage()) {
        case ENDED -> {
          recorder.republish(operation);
          thawRetrier.begin(operation, Duration.ZERO);
        }
        case HELD, BEGUN -> enqueue(operation, () -> settle(operation));
        case CLAIMED -> execute(operation);
      }
    } catch (RuntimeException | Error e) {
      byUid.remove(operation.uid()); // Removed so that it can be added again.
      throw e;
    }
  }

  private void execute(ActiveOperation operation) {
    if (FreezeJob.hasHooksBefore(operation)) {
      submit(operation, pod(operation), () -> prepare(operation));
    } else {
      enqueue(operation, () -> carryOut(operation));
    }
  }

  /** Hooks may take long, so they run before the operation occupies the GPUs. */
  private void prepare(ActiveOperation operation) {
    if (executor.prepare(operation)) {
      eventLoop.untilDone(() -> enqueue(operation, () -> carryOut(operation)));
    }
  }

  private void leaveGpus(ActiveOperation operation) {
    queue.keepOnly(operation.name(), pod(operation));
  }

  /**
   * The pod, which one operation at a time works on; uploads and verifications, one of each at a
   * time, have none.
   */
  private static Set<Object> pod(ActiveOperation operation) {
    if (operation.type() == OperationType.UPLOAD || operation.type() == OperationType.VERIFY) {
      return Set.of(operation.type());
    }
    OperationPod pod = operation.spec().getPod();
    return pod == null ? Set.of() : Set.of(pod.namespace() + "/" + pod.name());
  }

  private void enqueue(ActiveOperation operation, Runnable work) {
    if (stopping) {
      return; // The successor continues it.
    }
    Optional<Set<GpuUuid>> known = new PodLookup(parts).gpus(operation);
    if (known.isEmpty() && mayWait(operation)) {
      // Without its GPUs it would run in parallel to another operation on the same GPU.
      eventLoop.later(() -> eventLoop.untilDone(() -> enqueue(operation, work)));
      return;
    }
    Set<Object> places = new HashSet<>(known.orElse(Set.of()));
    places.addAll(pod(operation));
    submit(operation, places, work);
  }

  /** An operation that has touched its workload is completed without the kubelet's answer. */
  private boolean mayWait(ActiveOperation operation) {
    return operation.stage() == OperationStage.CLAIMED
        && !operation.isCancelled()
        && !operation.isOverdue();
  }

  private void submit(ActiveOperation operation, Set<Object> places, Runnable work) {
    if (stopping) {
      return; // The successor continues it.
    }
    queue.submit(operation.name(), operation.created(), places, OperationEventLoop.guarded(work));
  }

  /** Runs a task when the GPUs of that work are free, before the operations that wait for them. */
  void whenFree(Work work, Runnable task) {
    if (stopping) {
      return; // The successor continues it.
    }
    Set<GpuUuid> gpus = new HashSet<>();
    work.cuda().forEach(process -> gpus.addAll(process.deviceBytes().keySet()));
    queue.submit(work.id(), Instant.EPOCH, gpus, OperationEventLoop.guarded(task));
  }

  private void carryOut(ActiveOperation operation) {
    executor.carryOut(operation);
    wait(operation);
  }

  /** Recovers an operation that a predecessor left unfinished. */
  private void settle(ActiveOperation operation) {
    try (OperationLogFields fields = new OperationLogFields(operation, parts.nodeName())) {
      Optional<OperationResult> result = recovery.settle(operation);
      if (result.isPresent()) {
        recorder.end(operation, hooks.after(operation, result.get()));
        wait(operation);
      } else if (operation.status().getPhase() == OperationPhase.CLAIMED) {
        operation.stage(OperationStage.CLAIMED);
        execute(operation);
      } else {
        carryOut(operation);
      }
    } catch (ApiUnreachable | NodeApiException | RuntimeException | Error e) {
      // Also without a free descriptor: its workload must not stay frozen for that.
      LOG.log(level(e), operation.name() + " could not be recovered yet", e);
      eventLoop.later(() -> settleLater(operation));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Level level(Throwable e) {
    return e instanceof RuntimeException || e instanceof Error ? Level.ERROR : Level.WARNING;
  }

  private void settleLater(ActiveOperation operation) {
    if (operation.stage() == OperationStage.ENDED) {
      wait(operation);
    } else {
      eventLoop.untilDone(() -> enqueue(operation, () -> settle(operation)));
    }
  }

  /**
   * A held operation is thawed at its deadline, unless its pod is being deleted anyway; a workload
   * that was left frozen is thawed again.
   */
  private void wait(ActiveOperation operation) {
    if (operation.stage() != OperationStage.HELD) {
      thawRetrier.begin(operation);
      return;
    }
    if (operation.isCancelled() && !operation.isRolledOut()) {
      giveUp(operation, false);
      return;
    }
    Duration left = Duration.between(parts.clock().instant(), operation.deadline());
    eventLoop.after(left.plusMillis(1), () -> giveUp(operation, true));
  }

  private void giveUp(ActiveOperation operation, boolean outOfTime) {
    if (operation.stage() == OperationStage.HELD && !stopping) {
      eventLoop.untilDone(() -> enqueue(operation, () -> endHold(operation, outOfTime)));
    }
  }

  private void endHold(ActiveOperation operation, boolean outOfTime) {
    try {
      holdTimeout.run(operation, outOfTime);
      thawRetrier.begin(operation);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ApiUnreachable | RuntimeException | Error e) {
      LOG.log(level(e), operation.name() + " stays held", e);
      eventLoop.later(() -> giveUp(operation, outOfTime));
    }
  }

  /** Cancels an operation: it is undone, or ends before it has started. */
  void cancel(ActiveOperation operation, String who) {
    if (operation.stage() == OperationStage.ENDED || operation.isCancelled()) {
      return;
    }
    operation.cancel(who);
    if (operation.stage() == OperationStage.HELD) {
      giveUp(operation, false);
    } else if (queue.withdraw(operation.name())) {
      boolean begun = operation.stage() != OperationStage.CLAIMED;
      Runnable end =
          OperationEventLoop.guarded(begun ? () -> settle(operation) : () -> carryOut(operation));
      eventLoop.untilDone(() -> workers.execute(end));
    }
  }

  /**
   * Ends an operation that waited for a decision.
   *
   * @param operation name of the one that waited
   * @param result the result of the operation that carried out the decision
   */
  void decided(String operation, OperationResult result) {
    byUid.values().stream()
        .filter(one -> one.name().equals(operation))
        .filter(one -> one.stage() == OperationStage.HELD)
        .findFirst()
        .ifPresent(
            one ->
                recorder.end(
                    one,
                    OperationResult.done(result.reason(), result.message())
                        .leaving(result.workload(), result.sourceRunning(), result.processes())
                        .with(result.more())));
  }

  /** The stored state in the API server counts, not the pending write. */
  private void endIsWritten(ActiveOperation operation, GpuNodeOperationStatus status) {
    if (status.getOutcome() == Outcome.NOT_UNDONE
        && status.getWorkload() == WorkloadState.RUNNING) {
      thawRetrier.releaseGpus(operation); // Its successor has thawed it, without the retrier.
    }
    if (operation.stage() == OperationStage.ENDED
        && !operation.leftFrozen()
        && !ActiveOperation.leftFrozen(operation.spec(), status)) {
      if (byUid.remove(operation.uid()) != null) {
        over.accept(operation);
      }
    }
  }

  /** Starts no further operations; the successor executes them. */
  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  /**
   * Waits until every running step is finished or undone. Held, suspended and unstarted operations
   * are not changed.
   *
   * @param grace time limit of the steps
   */
  void rollOut(Duration grace) throws InterruptedException {
    thawRetrier.close();
    for (ActiveOperation operation : byUid.values()) {
      if (operation.stage() == OperationStage.ENDED) {
        queue.withdraw(operation.name());
      }
      if (operation.stage() == OperationStage.CLAIMED
          || operation.stage() == OperationStage.BEGUN) {
        operation.rollOut();
        queue.withdraw(operation.name());
      }
    }
    workers.shutdown();
    if (!workers.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.log(Level.WARNING, "operations in progress did not end within {0}", grace);
    }
    helpers.shutdown();
    writer.close();
  }
}
