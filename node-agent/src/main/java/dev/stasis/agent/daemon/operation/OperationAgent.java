package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.engine.HostLocks;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The agent of one node: watches its operations, claims them, recovers earlier claims after a
 * restart, and leaves a consistent state when it stops.
 */
public final class OperationAgent implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(OperationAgent.class.getName());

  /** A predecessor ends within its grace period; a longer wait is reported. */
  private static final Duration PREDECESSOR = Duration.ofMinutes(5);

  /** A running claim is one request with its own time limit. */
  private static final Duration CLAIM = Duration.ofSeconds(20);

  private final AgentParts parts;
  private final OperationEventLoop eventLoop = new OperationEventLoop();
  private final ActiveOperations active;
  private final Claims claims;
  private final OrphanedWork orphans;
  // Not on the event loop: the kernel takes seconds to free hundreds of gigabytes.
  private final ScheduledExecutorService leftovers =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("leftovers"));
  private @Nullable AutoCloseable watch;
  private HostLocks.@Nullable Held lock;

  public OperationAgent(AgentParts parts) {
    this.parts = parts;
    this.claims = new Claims(parts);
    this.active = new ActiveOperations(parts, eventLoop, this::endRestored);
    this.orphans =
        new OrphanedWork(
            parts,
            active::whenFree,
            (wait, task) -> eventLoop.after(wait, () -> eventLoop.untilDone(task)));
  }

  /**
   * Recovers what exists, then watches. May be called again after a failure.
   *
   * @throws IllegalStateException if another agent of this node does not end
   */
  public void start() throws InterruptedException {
    if (lock == null) {
      Optional<HostLocks.Held> taken = parts.engine().locks().take("agent", PREDECESSOR);
      lock =
          taken.orElseThrow(
              () ->
                  new IllegalStateException(
                      "lock of the agent: expected a free lock, got one held by another agent"));
    }
    settleAbandoned();
    takeUp();
    watch =
        parts
            .cluster()
            .watch(
                new ClusterApi.Watcher() {
                  @Override
                  public void changed(GpuNodeOperation operation) {
                    eventLoop.take(() -> consider(operation));
                  }

                  @Override
                  public void gone(String name, String uid) {
                    eventLoop.take(() -> unwanted(uid, "the deletion of " + name));
                  }
                });
    eventLoop.take(this::compareWithWhatIsThere);
    sweep(() -> parts.engine().thaw().removeStagesOfEnded());
    sweep(() -> parts.engine().thaw().removeRemains());
    sweep(this::endAbandonedKeepers);
  }

  private void sweep(Runnable task) {
    long every = parts.intervals().leftovers().toMillis();
    var unused =
        leftovers.scheduleWithFixedDelay(
            OperationEventLoop.guarded(task), every, every, TimeUnit.MILLISECONDS);
  }

  private void endAbandonedKeepers() {
    try {
      parts.engine().endAbandonedKeepers();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A failed recovery of one must not keep the others frozen. */
  private void takeUp() {
    @Nullable RuntimeException first = null;
    for (Work work : parts.engine().thaw().inHand()) {
      try {
        if (active.find(work.id()).isEmpty()) {
          recovered(work).ifPresent(active::take);
        }
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, work.id() + " cannot be recovered", e);
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /**
   * Returns the operation that a journal describes. Empty if it describes none or an unreadable
   * one: then it is recovered when the API server reports it.
   */
  private Optional<ActiveOperation> recovered(Work work) {
    JsonNode description = work.operation();
    if (description == null) {
      return Optional.empty();
    }
    try {
      ActiveOperation operation =
          ActiveOperation.recovered(parts.clock(), new OperationJson().operation(description));
      LOG.log(Level.INFO, "Recovering operation {0}: {1}", operation.name(), operation.stage());
      return Optional.of(operation).filter(found -> found.uid().equals(work.id()));
    } catch (IOException | RuntimeException e) {
      LOG.log(Level.ERROR, "operation in the journal of container " + work.containerId(), e);
      return Optional.empty();
    }
  }

  /**
   * Settings of the machine that a predecessor left changed when it was killed with its watchdog.
   */
  private void settleAbandoned() throws InterruptedException {
    try {
      parts.engine().settleAbandoned();
    } catch (UncheckedIOException e) {
      LOG.log(Level.ERROR, "settings of the whole machine", e);
    }
  }

  private void unwanted(String uid, String who) {
    active.find(uid).ifPresent(operation -> active.cancel(operation, who));
  }

  private void consider(GpuNodeOperation operation) {
    String uid = operation.getMetadata().getUid();
    boolean unwanted =
        Boolean.TRUE.equals(operation.getSpec().getCancel())
            || operation.getMetadata().getDeletionTimestamp() != null;
    if (active.find(uid).isPresent()) {
      if (unwanted) {
        unwanted(uid, "its operation");
      }
      return;
    }
    if (active.isStopping() || !parts.nodeName().equals(operation.getSpec().getNodeName())) {
      return;
    }
    try {
      claims.take(operation, unwanted).ifPresent(active::take);
      if (unwanted) {
        unwanted(uid, "its operation");
      }
    } catch (ApiUnreachable | Error e) {
      LOG.log(Level.WARNING, operation.getMetadata().getName() + " waits", e);
      eventLoop.later(() -> consider(operation));
    }
  }

  /** Not on the thread that writes statuses. */
  private void endRestored(ActiveOperation operation) {
    eventLoop.take(() -> eventLoop.untilDone(() -> orphans.endRestored(operation)));
  }

  /** Cancels operations that were deleted, and thaws workloads without an operation. */
  private void compareWithWhatIsThere() {
    try {
      orphans.compare(active.all()).forEach(uid -> unwanted(uid, "its deletion"));
    } catch (ApiUnreachable | RuntimeException | Error e) {
      LOG.log(Level.WARNING, "Cannot look for workloads without an operation yet", e);
      eventLoop.later(this::compareWithWhatIsThere);
    }
  }

  /**
   * Stops: claims nothing more, waits until every running step is finished or undone. Held,
   * suspended and unstarted operations are not changed.
   *
   * @param grace time limit of the running steps
   */
  public void stop(Duration grace) throws InterruptedException {
    active.stop();
    leftovers.shutdown();
    closeWatch();
    if (!eventLoop.close(CLAIM)) {
      LOG.log(Level.WARNING, "a claim did not end");
    }
    active.rollOut(grace);
    Optional.ofNullable(lock).ifPresent(HostLocks.Held::close);
  }

  private void closeWatch() {
    try {
      if (watch != null) {
        Objects.requireNonNull(watch).close();
      }
    } catch (Exception e) {
      LOG.log(Level.DEBUG, "the watch ended with", e);
    }
  }

  /** Stops without a grace period. */
  @Override
  public void close() throws InterruptedException {
    stop(Duration.ZERO);
  }
}
