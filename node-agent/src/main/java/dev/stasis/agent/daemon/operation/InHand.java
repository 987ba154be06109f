package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * What this agent has claimed, from the claim until its end is written: each waits for its turn on
 * its GPUs, is carried out, is held while somebody decides, and may be cancelled all the time.
 */
final class InHand implements HeldOperations {

  private static final System.Logger LOG = System.getLogger(InHand.class.getName());

  private final AgentParts parts;
  private final Intake intake;
  private final OperationJournal journal;
  private final StatusWriter writer;
  private final Desk desk;
  private final ExecutorService workers =
      Executors.newCachedThreadPool(Intake.daemons("operation"));
  // What an operation in hand needs done beside itself, also when no further one is begun.
  private final ExecutorService helpers =
      Executors.newCachedThreadPool(Intake.daemons("operation-helper"));
  private final GpuQueue queue = new GpuQueue(workers);
  private final GpusOfOperation gpus;
  private final Carrier carrier;
  private final Recovery recovery;
  private final GivingUp givingUp;
  private final AfterHooks hooks;
  private final ThawAgain thawAgain;
  private final Map<String, Assignment> byUid = new ConcurrentHashMap<>();
  private volatile boolean stopping;

  InHand(AgentParts parts, Intake intake, OperationJournal journal, Recovery recovery) {
    this.parts = parts;
    this.intake = intake;
    this.journal = journal;
    this.recovery = recovery;
    this.writer = new StatusWriter(parts.operations(), parts.intervals(), this::endIsWritten);
    this.desk = new Desk(journal, writer, parts.frozenChanged());
    this.gpus = new GpusOfOperation(parts);
    this.hooks = new AfterHooks(parts, this::leaveGpus);
    this.givingUp = new GivingUp(parts, desk, hooks);
    this.thawAgain = new ThawAgain(parts, desk, hooks, this::enqueue);
    UnfinishedArtifacts unfinished = new UnfinishedArtifacts();
    FreezeJob freeze = new FreezeJob(parts, desk, helpers, unfinished);
    ThawJob thaw = new ThawJob(parts, desk, this, hooks);
    this.carrier =
        new Carrier(
            parts,
            desk,
            Map.of(
                OperationType.CHECKPOINT,
                freeze,
                OperationType.SUSPEND,
                freeze,
                OperationType.RESUME,
                thaw,
                OperationType.THAW,
                thaw,
                OperationType.END,
                thaw,
                OperationType.RESTORE,
                new RestoreJob(parts, desk, helpers),
                OperationType.SEND,
                new SendJob(parts, desk, helpers, unfinished),
                OperationType.RECEIVE,
                new ReceiveJob(parts, desk),
                OperationType.IMPORT,
                new ImportJob(parts, desk),
                OperationType.DELETE_ARTIFACT,
                new DeleteJob(parts, desk)),
            this::leaveGpus);
  }

  Optional<Assignment> find(String uid) {
    return Optional.ofNullable(byUid.get(uid));
  }

  Map<String, Assignment> all() {
    return Map.copyOf(byUid);
  }

  int size() {
    return byUid.size();
  }

  /** What was claimed: gone on with, begun, or, after a restart, only still to be said. */
  void take(Assignment assignment) {
    byUid.put(assignment.uid(), assignment);
    try {
      switch (assignment.entry().stage()) {
        case ENDED -> {
          desk.sayAgain(assignment);
          thawAgain.begin(assignment, Duration.ZERO);
        }
        case HELD, BEGUN -> enqueue(assignment, () -> settle(assignment));
        case CLAIMED -> {
          if (FreezeJob.hasHooksBefore(assignment)) {
            submit(assignment, pod(assignment), () -> prepare(assignment));
          } else {
            enqueue(assignment, () -> carryOut(assignment));
          }
        }
      }
    } catch (RuntimeException e) {
      byUid.remove(assignment.uid()); // So that it can be taken again.
      throw e;
    }
  }

  /** Hooks take as long as their user wants, so they run before the turn on the GPUs. */
  private void prepare(Assignment assignment) {
    if (carrier.prepare(assignment)) {
      enqueue(assignment, () -> carryOut(assignment));
    }
  }

  private void leaveGpus(Assignment assignment) {
    queue.keepOnly(assignment.name(), pod(assignment));
  }

  /** The pod, which one operation at a time works on. */
  private static Set<Object> pod(Assignment assignment) {
    OperationPod pod = assignment.spec().getPod();
    return pod == null ? Set.of() : Set.of(pod.namespace() + "/" + pod.name());
  }

  private void enqueue(Assignment assignment, Runnable work) {
    if (stopping) {
      return; // Journalled: the successor takes it up.
    }
    Optional<Set<GpuUuid>> known = gpus.of(assignment);
    if (known.isEmpty() && mayWait(assignment)) {
      // Begun without its GPUs it would run beside another one on the same GPU.
      intake.later(() -> enqueue(assignment, work));
      return;
    }
    Set<Object> places = new HashSet<>(known.orElse(Set.of()));
    places.addAll(pod(assignment));
    submit(assignment, places, work);
  }

  /** An operation that has touched its workload is finished without the kubelet's answer. */
  private boolean mayWait(Assignment assignment) {
    return assignment.entry().stage() == JournalEntry.Stage.CLAIMED
        && !assignment.isCancelled()
        && parts.clock().instant().isBefore(assignment.deadline());
  }

  private void submit(Assignment assignment, Set<Object> places, Runnable work) {
    if (stopping) {
      return; // Journalled: the successor takes it up.
    }
    queue.submit(assignment.name(), assignment.entry().created(), places, Intake.guarded(work));
  }

  private void carryOut(Assignment assignment) {
    carrier.carryOut(assignment);
    wait(assignment);
  }

  /** One in whose middle a predecessor died. */
  private void settle(Assignment assignment) {
    try (LogFields fields = LogFields.of(assignment, parts.nodeName())) {
      Optional<Ending> ending = recovery.settle(assignment);
      if (ending.isPresent()) {
        desk.end(assignment, hooks.after(assignment, ending.get()));
        wait(assignment);
      } else {
        carryOut(assignment);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * One that is held is thawed when its time is over and its pod is not going anyway; what one has
   * left frozen is tried again.
   */
  private void wait(Assignment assignment) {
    if (assignment.entry().stage() != JournalEntry.Stage.HELD) {
      thawAgain.begin(assignment);
      return;
    }
    if (assignment.isCancelled() && !assignment.isRolledOut()) {
      giveUp(assignment, false);
      return;
    }
    Duration left = Duration.between(parts.clock().instant(), assignment.deadline());
    intake.after(left.plusMillis(1), () -> giveUp(assignment, true));
  }

  private void giveUp(Assignment assignment, boolean outOfTime) {
    if (assignment.entry().stage() == JournalEntry.Stage.HELD && !stopping) {
      enqueue(
          assignment,
          () -> {
            try {
              givingUp.run(assignment, outOfTime);
              thawAgain.begin(assignment);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            } catch (ApiUnreachable e) {
              LOG.log(System.Logger.Level.WARNING, "{0} stays held: {1}", assignment.name(), e);
              intake.later(() -> giveUp(assignment, outOfTime));
            }
          });
    }
  }

  /** Nobody wants it any more: undone where it is, or before its turn. */
  void cancel(Assignment assignment, String who) {
    if (assignment.entry().stage() == JournalEntry.Stage.ENDED || assignment.isCancelled()) {
      return;
    }
    assignment.cancel(who);
    if (assignment.entry().stage() == JournalEntry.Stage.HELD) {
      giveUp(assignment, false);
    } else if (queue.withdraw(assignment.name())) {
      boolean begun = assignment.entry().stage() != JournalEntry.Stage.CLAIMED;
      workers.execute(
          Intake.guarded(
              () -> {
                if (begun) {
                  settle(assignment);
                } else {
                  carryOut(assignment);
                }
              }));
    }
  }

  @Override
  public void decided(String operation, Ending ending) {
    byUid.values().stream()
        .filter(one -> one.name().equals(operation))
        .filter(one -> one.entry().stage() == JournalEntry.Stage.HELD)
        .findFirst()
        .ifPresent(one -> desk.end(one, asDecided(ending)));
  }

  private static Ending asDecided(Ending ending) {
    return new Ending(
        OperationPhase.SUCCEEDED,
        Outcome.DONE,
        ending.reason(),
        ending.message(),
        List.of(),
        ending.workload(),
        ending.sourceRunning(),
        ending.processes(),
        status -> {});
  }

  /**
   * What the API server has counts, not what is about to be written: that is journalled until then.
   */
  private void endIsWritten(Assignment assignment, GpuNodeOperationStatus status) {
    if (assignment.entry().stage() == JournalEntry.Stage.ENDED
        && !assignment.entry().leftFrozen()
        && !JournalEntry.leftFrozen(assignment.spec(), status)) {
      journal.remove(assignment.name());
      byUid.remove(assignment.uid());
    }
  }

  /** Begins nothing more; what is not begun by now is the successor's. */
  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  /**
   * Lets every step in hand be finished or undone, and leaves what is held, suspended or not begun
   * as it is.
   *
   * @param grace how long the steps may take
   */
  void rollOut(Duration grace) throws InterruptedException {
    thawAgain.close();
    for (Assignment assignment : byUid.values()) {
      if (assignment.entry().stage() == JournalEntry.Stage.ENDED) {
        queue.withdraw(assignment.name());
      }
      if (assignment.entry().stage() == JournalEntry.Stage.CLAIMED
          || assignment.entry().stage() == JournalEntry.Stage.BEGUN) {
        assignment.rollOut();
        queue.withdraw(assignment.name());
      }
    }
    workers.shutdown();
    if (!workers.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.log(System.Logger.Level.WARNING, "steps in hand did not end within {0}", grace);
    }
    helpers.shutdown();
    writer.close();
  }
}
