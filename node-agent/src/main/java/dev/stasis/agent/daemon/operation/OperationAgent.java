package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.HostLocks;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
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
  private final InterruptedOperationRecovery recovery;
  private final OperationJournal journal;
  private @Nullable AutoCloseable watch;
  private HostLocks.@Nullable Held lock;

  public OperationAgent(AgentParts parts) {
    this.parts = parts;
    this.journal = new OperationJournal(parts.stateDir());
    this.claims = new Claims(parts, journal);
    this.recovery = new InterruptedOperationRecovery(parts);
    this.active = new ActiveOperations(parts, eventLoop, journal, recovery);
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
                      "lock of the agent: expected it free, got another agent that holds it"));
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
  }

  /** A failed recovery of one must not keep the others frozen. */
  private void takeUp() {
    @Nullable RuntimeException first = null;
    for (OperationJournal.Entry entry : journal.all()) {
      LOG.log(Level.INFO, "{0} was {1}", entry.name(), entry.stage());
      try {
        if (active.find(entry.uid()).isEmpty()) {
          GpuNodeOperationStatus status =
              Objects.requireNonNullElseGet(entry.status(), GpuNodeOperationStatus::new);
          active.take(new ActiveOperation(parts.clock(), entry, status));
        }
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, entry.name() + " is not taken up", e);
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /**
   * Settings of the machine that a predecessor left changed when it was killed with its watchdog.
   */
  private void settleAbandoned() throws InterruptedException {
    try {
      parts.engine().settleAbandoned();
    } catch (UncheckedIOException e) {
      LOG.log(Level.ERROR, "what is set for the whole machine", e);
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
    } catch (ApiUnreachable e) {
      LOG.log(Level.WARNING, operation.getMetadata().getName() + " waits", e);
      eventLoop.later(() -> consider(operation));
    }
  }

  /** Cancels operations that were deleted, and thaws workloads without an operation. */
  private void compareWithWhatIsThere() {
    try {
      recovery.compare(active.all()).forEach(uid -> unwanted(uid, "its deletion"));
    } catch (ApiUnreachable e) {
      eventLoop.later(this::compareWithWhatIsThere);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
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
    closeWatch();
    if (!eventLoop.close(CLAIM)) {
      LOG.log(Level.WARNING, "a claim did not come to an end");
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
