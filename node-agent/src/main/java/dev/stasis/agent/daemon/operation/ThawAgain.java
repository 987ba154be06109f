package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.engine.Look;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Tries again to thaw what an operation has left frozen at its end, until it runs or is gone, and
 * then says so in the operation. Nothing else is ever thawed by it: what is suspended, what waits
 * for a decision, what is being ended and what a person froze stay as they are.
 */
final class ThawAgain implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(ThawAgain.class.getName());

  private final AgentParts parts;
  private final Backoff backoff;
  private final Desk desk;
  private final AfterHooks hooks;
  private final BiConsumer<Assignment, Runnable> turns;
  private final Map<String, Assignment> tried = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, Intake.daemons("thaw-again"));

  /**
   * Tries again.
   *
   * @param turns runs something when its operation's GPUs are free
   */
  ThawAgain(AgentParts parts, Desk desk, AfterHooks hooks, BiConsumer<Assignment, Runnable> turns) {
    this.parts = parts;
    this.backoff = parts.intervals().thaw();
    this.desk = desk;
    this.hooks = hooks;
    this.turns = turns;
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    parts.metrics().leftFrozen(tried.keySet());
  }

  /** Begins with it when the operation has left its workload frozen; once is enough. */
  void begin(Assignment assignment, Duration wait) {
    if (assignment.entry().leftFrozen()
        && tried.putIfAbsent(assignment.uid(), assignment) == null) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} has left its workload frozen: it is tried again in {1}",
          assignment.name(),
          wait);
      after(wait, assignment, backoff.first());
    }
  }

  /** Begins with the first wait. */
  void begin(Assignment assignment) {
    begin(assignment, backoff.first());
  }

  private void after(Duration wait, Assignment assignment, Duration next) {
    try {
      var unused =
          timer.schedule(
              () -> ask(assignment, next), Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.log(
          System.Logger.Level.INFO, "{0} is left to be tried by a successor", assignment.name());
    }
  }

  /** For its turn; whatever goes wrong, it is asked for again. */
  private void ask(Assignment assignment, Duration next) {
    try {
      turns.accept(assignment, () -> attempt(assignment, next));
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "the thaw of " + assignment.name(), e);
      after(next, assignment, backoff.after(next));
    }
  }

  private void attempt(Assignment assignment, Duration next) {
    boolean over = false;
    try (LogFields fields = LogFields.of(assignment, parts.nodeName())) {
      over = isOver(assignment);
    } catch (ApiUnreachable e) {
      parts.metrics().thawTried("Unreachable");
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} is not thawed: whether its pod is being deleted is not known: {1}",
          assignment.name(),
          e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "the thaw of " + assignment.name(), e);
    }
    if (over) {
      tried.remove(assignment.uid());
    } else {
      LOG.log(System.Logger.Level.INFO, "{0} is tried again in {1}", assignment.name(), next);
      after(next, assignment, backoff.after(next));
    }
  }

  /** One try; whether there is nothing left to try. */
  private boolean isOver(Assignment assignment) throws ApiUnreachable, InterruptedException {
    if (!assignment.entry().bootId().equals(parts.engine().bootId())) {
      say(assignment, new SourceState(SourceState.Kind.GONE, "the node was started anew since"), 0);
      return true;
    }
    Optional<Work> work =
        parts.engine().thaw().inHand().stream()
            .filter(one -> one.id().equals(assignment.uid()))
            .findFirst();
    String container =
        work.map(Work::containerId)
            .orElseGet(
                () ->
                    Objects.requireNonNullElse(
                        assignment.report().copy().getContainerId(), "none-was-found"));
    Look.Seen seen = parts.engine().look().at(container);
    if (work.isPresent() && mayThaw(assignment, work.get(), seen.state())) {
      ThawOutcome outcome = parts.engine().thaw().run(assignment.uid(), StepListener.NONE);
      parts.metrics().thawTried(word(outcome));
      LOG.log(
          System.Logger.Level.WARNING,
          "one more thaw of {0} for {1}: {2}",
          assignment.name(),
          assignment.owner(),
          outcome);
      seen = parts.engine().look().at(container);
    }
    // A person may have thawed it too, or its kubelet ended it.
    SourceState.Kind kind = seen.state().kind();
    if (kind != SourceState.Kind.RUNNING && kind != SourceState.Kind.GONE) {
      return false;
    }
    if (kind == SourceState.Kind.RUNNING) {
      letIn(assignment);
    }
    say(assignment, seen.state(), seen.processes());
    return true;
  }

  /** Its GPUs were fenced off while nobody knew whether their driver brings it back: it did. */
  private void letIn(Assignment assignment) {
    OperationPod pod = Objects.requireNonNull(assignment.spec().getPod());
    if (tried.size() > 1) {
      return; // Another one may stand still on the same GPU.
    }
    try {
      parts
          .gpus()
          .of(pod.namespace(), pod.name(), pod.containerName())
          .gpus()
          .forEach(gpu -> parts.quarantine().release(gpu.text()));
    } catch (NodeApiException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "GPUs of {0} stay fenced off: {1}",
          assignment.name(),
          e.getMessage());
    }
  }

  /**
   * Whether nobody is about to decide about it, and its pod stays. In a pod that is being deleted
   * nothing is thawed any more: its kubelet ends it, and then only what is left of the work goes.
   */
  private boolean mayThaw(Assignment assignment, Work work, SourceState seen)
      throws ApiUnreachable {
    if (!isForgotten(assignment, work)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} is not thawed: its workload is {1}",
          assignment.name(),
          work.phase());
      return false;
    }
    OperationPod pod = Objects.requireNonNull(assignment.spec().getPod());
    if (seen.kind() != SourceState.Kind.GONE && new DeletedPod(parts).of(pod)) {
      parts.metrics().thawTried("PodDeleted");
      LOG.log(
          System.Logger.Level.INFO,
          "{0} is not thawed: its pod is being deleted",
          assignment.name());
      return false;
    }
    return true;
  }

  /**
   * Whether no copy of it can run elsewhere and nobody ends it: not the source of a migration that
   * is held until that is decided, and not a tree that is being ended.
   */
  static boolean isForgotten(Assignment assignment, Work work) {
    boolean undecided =
        assignment.spec().getFreeze() != null
            && assignment.spec().getFreeze().getHeldUntilDecided()
            && work.phase() == Work.Phase.HELD;
    return assignment.entry().leftFrozen()
        && work.kind() == Work.Kind.FREEZE
        && work.phase() != Work.Phase.ENDING
        && !undecided;
  }

  private void say(Assignment assignment, SourceState state, int processes)
      throws InterruptedException {
    GpuNodeOperationStatus said = assignment.report().copy();
    Instant now = parts.clock().instant();
    Ending ending =
        new Ending(
                Objects.requireNonNull(said.getPhase()),
                said.getOutcome(),
                Objects.requireNonNullElse(said.getReason(), ""),
                Objects.requireNonNullElse(said.getMessage(), "")
                    + "; tried again since: "
                    + state.detail(),
                Objects.requireNonNullElse(said.getFaults(), List.of()),
                null,
                null,
                null,
                status -> status.setWorkloadTime(now))
            .leaving(FreezeEnding.workload(state), FreezeEnding.running(state), processes);
    desk.correct(assignment, hooks.after(assignment, ending));
    LOG.log(
        System.Logger.Level.INFO,
        "{0}, which was left frozen: {1}",
        assignment.name(),
        state.detail());
  }

  private static String word(ThawOutcome outcome) {
    return outcome instanceof ThawOutcome.Ended ended
        ? FreezeEnding.workload(ended.state()).word()
        : "Busy";
  }

  /** Begins with no further try. */
  @Override
  public void close() {
    timer.shutdown();
  }
}
