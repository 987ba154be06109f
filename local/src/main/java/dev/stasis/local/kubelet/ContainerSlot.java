package dev.stasis.local.kubelet;

import dev.stasis.local.runc.RunningContainer;
import io.fabric8.kubernetes.api.model.Container;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The state of one container of a pod: the running attempt, and the previous one. */
final class ContainerSlot {

  /**
   * After the first end a kubelet restarts immediately; a container that ends repeatedly has to
   * wait.
   */
  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);

  private static final Duration SECOND_WAIT = Duration.ofSeconds(10);
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

  /** A running attempt. */
  record Run(RunningContainer container, ContainerPlan plan, Probes probes, Instant since) {}

  /** An ended attempt. */
  record Ended(String id, int code, Instant since, Instant until) {}

  /** Why there is no attempt. */
  record Waiting(String reason, String message) {}

  private final String name;
  private int attempts;
  private @Nullable Run run;
  private @Nullable Ended last;
  private @Nullable ContainerPlan plan;
  private Waiting waiting = new Waiting("PodInitializing", "");
  private Instant notBefore = Instant.MIN;
  private long memoryLimit;

  ContainerSlot(Container spec) {
    this.name = spec.getName();
    this.memoryLimit = ContainerLimits.of(spec).memoryBytes();
  }

  String name() {
    return name;
  }

  /** The number of starts. */
  int attempts() {
    return attempts;
  }

  Optional<Run> run() {
    return Optional.ofNullable(run);
  }

  Optional<Ended> last() {
    return Optional.ofNullable(last);
  }

  /** Its configuration, running or not; null before its first start. */
  Optional<ContainerPlan> plan() {
    return Optional.ofNullable(plan);
  }

  Waiting waiting() {
    return waiting;
  }

  Instant notBefore() {
    return notBefore;
  }

  /** The limit that is set in the kernel, in bytes. */
  long memoryLimit() {
    return memoryLimit;
  }

  void memoryLimitIs(long bytes) {
    memoryLimit = bytes;
  }

  boolean succeeded() {
    return run == null && last != null && last.code() == 0;
  }

  void started(Run started) {
    run = started;
    plan = started.plan();
    memoryLimit = started.plan().config().memoryLimit();
    attempts++;
  }

  void refused(String reason, String message, Instant now) {
    waiting = new Waiting(reason, message);
    notBefore = now.plus(SECOND_WAIT);
  }

  void ended(int code, Instant now) {
    if (run == null) {
      return;
    }
    last = new Ended(run.container().id(), code, run.since(), now);
    run = null;
    Duration wait = FIRST_WAIT;
    if (attempts > 1) {
      wait = SECOND_WAIT.multipliedBy(1L << Math.min(attempts - 2, 10));
      waiting = new Waiting("CrashLoopBackOff", "back-off before the restart");
    }
    notBefore = now.plus(wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait);
  }
}
