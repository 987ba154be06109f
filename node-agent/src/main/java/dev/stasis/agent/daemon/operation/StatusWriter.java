package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.process.DaemonThreads;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the status of operations, one write at a time and only changes. Nothing waits for it:
 * while the API server is unavailable it retries, and only the last status counts.
 */
final class StatusWriter implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(StatusWriter.class.getName());

  private final OperationJson json = new OperationJson();
  private final ClusterApi cluster;
  private final Intervals.Backoff backoff;
  private final Duration progressEvery;
  private final BiConsumer<ActiveOperation, GpuNodeOperationStatus> endWritten;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("operation-status"));
  private final Map<String, State> states = new HashMap<>();

  /**
   * Creates a writer.
   *
   * @param intervals between writes
   * @param endWritten receives each operation whose end is stored in the API server, and the stored
   *     status; a newer one may be pending
   */
  StatusWriter(
      ClusterApi cluster,
      Intervals intervals,
      BiConsumer<ActiveOperation, GpuNodeOperationStatus> endWritten) {
    this.cluster = cluster;
    this.backoff = intervals.statusWrite();
    this.progressEvery = intervals.progress();
    this.endWritten = endWritten;
  }

  /**
   * The state of an operation's status. Only the writer's thread accesses all but the first field.
   */
  private static final class State {
    private boolean scheduled;
    private long scheduledNanos;
    private @Nullable GpuNodeOperation latest;
    private @Nullable JsonNode written;
    private long writtenNanos;
    private Duration retry;

    State(long writtenNanos, Duration retry) {
      this.writtenNanos = writtenNanos;
      this.retry = retry;
    }
  }

  private State unwritten() {
    return new State(System.nanoTime() - progressEvery.toNanos(), backoff.first());
  }

  /** A change that other components wait for. */
  void atOnce(ActiveOperation operation) {
    schedule(operation, Duration.ZERO);
  }

  /** Progress. */
  void soon(ActiveOperation operation) {
    State state;
    long wait;
    synchronized (states) {
      state = states.computeIfAbsent(operation.uid(), uid -> unwritten());
      wait = state.writtenNanos + progressEvery.toNanos() - System.nanoTime();
    }
    schedule(operation, Duration.ofNanos(Math.max(0, wait)));
  }

  private void schedule(ActiveOperation operation, Duration delay) {
    synchronized (states) {
      State state = states.computeIfAbsent(operation.uid(), uid -> unwritten());
      long at = System.nanoTime() + delay.toNanos();
      if (state.scheduled && state.scheduledNanos - at <= 0) {
        return;
      }
      state.scheduled = true;
      state.scheduledNanos = at;
    }
    try {
      var unused = thread.schedule(() -> write(operation), delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.log(Level.INFO, "the status of {0} is left to the next agent", operation.name());
    }
  }

  private void write(ActiveOperation operation) {
    State state;
    synchronized (states) {
      state = states.get(operation.uid());
      if (state == null || !state.scheduled || state.scheduledNanos - System.nanoTime() > 0) {
        return; // Written since, or an earlier time was set and this is the later one.
      }
      state.scheduled = false;
      state.writtenNanos = System.nanoTime();
    }
    try {
      writeNow(operation, state);
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "status of " + operation.name(), e);
      again(operation, state, e.toString());
    }
  }

  private void writeNow(ActiveOperation operation, State state) {
    // Read once: a change between two reads would be written twice.
    GpuNodeOperationStatus status = operation.status();
    JsonNode tree = json.tree(status);
    if (tree.equals(state.written)) {
      if (isFinal(status)) {
        ended(operation, status);
      }
      return;
    }
    GpuNodeOperation base = state.latest;
    if (base == null) {
      try {
        Optional<GpuNodeOperation> found = cluster.operation(operation.name());
        if (found.isEmpty() || !found.get().getMetadata().getUid().equals(operation.uid())) {
          ended(operation, status);
          return;
        }
        base = found.get();
      } catch (ApiUnreachable e) {
        again(operation, state, String.valueOf(e.getMessage()));
        return;
      }
    }
    Outcome end = base.getStatus() == null ? null : base.getStatus().getOutcome();
    if (end != null && end != status.getOutcome()) {
      if (isFinal(status)) {
        operation.replaceStatus(corrected(base.getStatus(), status, operation.now()));
        schedule(operation, Duration.ZERO);
      }
      return; // Progress of an operation that has ended is not reported.
    }
    base.setStatus(status);
    ClusterApi.Written written = cluster.writeStatus(base);
    if (written instanceof ClusterApi.Written.Done done) {
      state.latest = done.operation();
      state.written = tree;
      state.retry = backoff.first();
      if (isFinal(status)) {
        ended(operation, status);
      }
    } else if (written instanceof ClusterApi.Written.Gone) {
      state.written = tree;
      if (isFinal(status)) {
        ended(operation, status);
      }
    } else if (written instanceof ClusterApi.Written.Conflict) {
      state.latest = null;
      schedule(operation, Duration.ZERO);
    } else if (written instanceof ClusterApi.Written.Failed failed) {
      state.latest = null;
      again(operation, state, failed.why());
    }
  }

  /**
   * Returns the stored end with the workload's state as this agent has observed it. A journal that
   * could not be written does not contain that end: the successor of its agent thaws the workload
   * and ends the operation a second time, but an outcome is immutable.
   */
  private GpuNodeOperationStatus corrected(
      GpuNodeOperationStatus stored, GpuNodeOperationStatus seen, Instant now) {
    GpuNodeOperationStatus status = json.copy(stored);
    status.setWorkload(seen.getWorkload());
    status.setSourceRunning(seen.getSourceRunning());
    status.setSourceProcesses(seen.getSourceProcesses());
    if (seen.getArtifact() != null || seen.getOutcome() == Outcome.UNDONE) {
      status.setArtifact(seen.getArtifact()); // An undone hold has deleted it.
    }
    status.setWorkloadTime(now);
    status.setMessage(
        "%s; after a restart of the agent: %s".formatted(stored.getMessage(), seen.getMessage()));
    return status;
  }

  private void again(ActiveOperation operation, State state, String why) {
    LOG.log(
        Level.WARNING,
        "cannot write the status of {0}, retrying in {1}: {2}",
        operation.name(),
        state.retry,
        why);
    schedule(operation, state.retry);
    state.retry = backoff.after(state.retry);
  }

  private static boolean isFinal(GpuNodeOperationStatus status) {
    OperationPhase phase = status.getPhase();
    return phase != null && phase.isFinal();
  }

  private void ended(ActiveOperation operation, GpuNodeOperationStatus status) {
    synchronized (states) {
      State state = states.get(operation.uid());
      if (state != null && !state.scheduled) {
        states.remove(operation.uid());
      }
      // Otherwise it was corrected while its end was written: the next write is the last one.
    }
    endWritten.accept(operation, status);
  }

  /** Writes what is due, and no more. */
  @Override
  public void close() throws InterruptedException {
    thread.shutdown();
    // Two writes with the API's own time limit of ten seconds; a successor writes the rest.
    if (!thread.awaitTermination(20, TimeUnit.SECONDS)) {
      thread.shutdownNow();
    }
  }
}
