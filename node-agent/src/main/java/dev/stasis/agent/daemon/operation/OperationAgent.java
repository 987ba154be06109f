package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.HostLocks;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The agent of one node: hears of its operations, claims them, takes up after a restart what was
 * claimed before, and leaves everything in order when it goes.
 */
public final class OperationAgent implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(OperationAgent.class.getName());

  /** A predecessor ends within its grace period; whoever waits longer had better say so. */
  private static final Duration PREDECESSOR = Duration.ofMinutes(5);

  /** A claim in hand is one request, which has a time limit of its own. */
  private static final Duration CLAIM = Duration.ofSeconds(20);

  private final AgentParts parts;
  private final Intake intake = new Intake();
  private final InHand inHand;
  private final Claims claims;
  private final Recovery recovery;
  private @Nullable AutoCloseable watch;
  private HostLocks.@Nullable Held lock;

  public OperationAgent(AgentParts parts) {
    this.parts = parts;
    OperationJournal journal = new OperationJournal(parts.stateDir());
    this.claims = new Claims(parts, journal);
    this.recovery = new Recovery(parts, journal);
    this.inHand = new InHand(parts, intake, journal, recovery);
    parts.metrics().quarantined(parts.quarantine()::fenced);
    parts.metrics().frozen(parts.nodeName(), parts.clock(), () -> parts.engine().thaw().inHand());
  }

  /**
   * Takes up what there is, then watches. May be called again after it failed.
   *
   * @throws IllegalStateException when another agent of this node does not end
   */
  public void start() throws InterruptedException {
    if (lock == null) {
      Optional<HostLocks.Held> taken = parts.engine().locks().take("agent", PREDECESSOR);
      lock =
          taken.orElseThrow(
              () ->
                  new IllegalStateException(
                      "lock of the agent: wanted it free, found another agent that holds it"));
    }
    settleAbandoned();
    takeUp(recovery.journalled());
    watch =
        parts
            .operations()
            .watch(
                new Operations.Watcher() {
                  @Override
                  public void changed(GpuNodeOperation operation) {
                    intake.take(() -> consider(operation));
                  }

                  @Override
                  public void gone(String name, String uid) {
                    intake.take(() -> unwanted(uid, "the deletion of " + name));
                  }
                });
    intake.take(this::compareWithWhatIsThere);
  }

  /** One that cannot be taken up keeps none of the others frozen. */
  private void takeUp(List<Assignment> journalled) {
    @Nullable RuntimeException first = null;
    for (Assignment assignment : journalled) {
      try {
        if (inHand.find(assignment.uid()).isEmpty()) {
          inHand.take(assignment);
        }
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, assignment.name() + " is not taken up", e);
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /** What a predecessor that was killed with its watchdog left changed on the machine. */
  private void settleAbandoned() throws InterruptedException {
    try {
      parts.engine().settleAbandoned();
    } catch (UncheckedIOException e) {
      LOG.log(System.Logger.Level.ERROR, "what is set for the whole machine", e);
    }
  }

  private void unwanted(String uid, String who) {
    inHand.find(uid).ifPresent(assignment -> inHand.cancel(assignment, who));
  }

  private void consider(GpuNodeOperation operation) {
    String uid = operation.getMetadata().getUid();
    boolean unwanted =
        Boolean.TRUE.equals(operation.getSpec().getCancel())
            || operation.getMetadata().getDeletionTimestamp() != null;
    if (inHand.find(uid).isPresent()) {
      if (unwanted) {
        unwanted(uid, "its operation");
      }
      return;
    }
    if (inHand.isStopping() || !parts.nodeName().equals(operation.getSpec().getNodeName())) {
      return;
    }
    try {
      claims.take(operation, unwanted).ifPresent(inHand::take);
    } catch (ApiUnreachable e) {
      LOG.log(System.Logger.Level.WARNING, operation.getMetadata().getName() + " waits", e);
      intake.later(() -> consider(operation));
    }
  }

  /** Cancels what nobody wants any more, and thaws what no operation explains. */
  private void compareWithWhatIsThere() {
    try {
      recovery.compare(inHand.all()).forEach(uid -> unwanted(uid, "its deletion"));
    } catch (ApiUnreachable e) {
      intake.later(this::compareWithWhatIsThere);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How many operations are in hand, the held ones included. */
  public int inHand() {
    return inHand.size();
  }

  /**
   * Goes: claims nothing more, lets every step in hand be finished or undone, and leaves what is
   * held, suspended or not begun as it is.
   *
   * @param grace how long the steps in hand may take
   */
  public void stop(Duration grace) throws InterruptedException {
    inHand.stop();
    closeWatch();
    if (!intake.close(CLAIM)) {
      LOG.log(System.Logger.Level.WARNING, "a claim did not come to an end");
    }
    inHand.rollOut(grace);
    Optional.ofNullable(lock).ifPresent(HostLocks.Held::close);
  }

  private void closeWatch() {
    try {
      if (watch != null) {
        Objects.requireNonNull(watch).close();
      }
    } catch (Exception e) {
      LOG.log(System.Logger.Level.DEBUG, "the watch ended with", e);
    }
  }

  /** Stops without a grace period. */
  @Override
  public void close() throws InterruptedException {
    stop(Duration.ZERO);
  }
}
