package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import java.time.Duration;
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
 * Publishes what is to be said of operations, one write at a time and only what is new. Nobody
 * waits for it: with the API server gone it goes on trying, and what counts in the end is what was
 * said last.
 */
final class StatusWriter implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(StatusWriter.class.getName());

  private final OperationJson json = new OperationJson();
  private final Operations operations;
  private final Backoff backoff;
  private final Duration progressEvery;
  private final BiConsumer<Assignment, GpuNodeOperationStatus> endWritten;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "operation-status");
            made.setDaemon(true);
            return made;
          });
  private final Map<String, State> states = new HashMap<>();

  /**
   * A writer.
   *
   * @param intervals between writes
   * @param endWritten hears of each operation whose end the API server has, and of the status that
   *     it has; something newer may be on its way
   */
  StatusWriter(
      Operations operations,
      Intervals intervals,
      BiConsumer<Assignment, GpuNodeOperationStatus> endWritten) {
    this.operations = operations;
    this.backoff = intervals.statusWrite();
    this.progressEvery = intervals.progress();
    this.endWritten = endWritten;
  }

  /** What is known of an operation there. Only the writer's thread touches all but the first. */
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

  /** Something has changed that others wait for. */
  void atOnce(Assignment assignment) {
    schedule(assignment, Duration.ZERO);
  }

  /** It has come further. */
  void soon(Assignment assignment) {
    State state;
    long wait;
    synchronized (states) {
      state = states.computeIfAbsent(assignment.uid(), uid -> unwritten());
      wait = state.writtenNanos + progressEvery.toNanos() - System.nanoTime();
    }
    schedule(assignment, Duration.ofNanos(Math.max(0, wait)));
  }

  private void schedule(Assignment assignment, Duration delay) {
    synchronized (states) {
      State state = states.computeIfAbsent(assignment.uid(), uid -> unwritten());
      long at = System.nanoTime() + delay.toNanos();
      if (state.scheduled && state.scheduledNanos - at <= 0) {
        return;
      }
      state.scheduled = true;
      state.scheduledNanos = at;
    }
    try {
      var unused = thread.schedule(() -> write(assignment), delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.log(System.Logger.Level.INFO, "{0} is left to be said by a successor", assignment.name());
    }
  }

  private void write(Assignment assignment) {
    State state;
    synchronized (states) {
      state = states.get(assignment.uid());
      if (state == null || !state.scheduled || state.scheduledNanos - System.nanoTime() > 0) {
        return; // Written since, or an earlier date was set and this is the later one.
      }
      state.scheduled = false;
      state.writtenNanos = System.nanoTime();
    }
    try {
      writeNow(assignment, state);
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "status of " + assignment.name(), e);
      again(assignment, state, e.toString());
    }
  }

  private void writeNow(Assignment assignment, State state) {
    // One look: what is said between two would be written, and then written again.
    GpuNodeOperationStatus status = assignment.report().copy();
    JsonNode tree = json.tree(status);
    if (tree.equals(state.written)) {
      if (isFinal(status)) {
        ended(assignment, status);
      }
      return;
    }
    GpuNodeOperation base = state.latest;
    if (base == null) {
      try {
        Optional<GpuNodeOperation> found = operations.find(assignment.name());
        if (found.isEmpty() || !found.get().getMetadata().getUid().equals(assignment.uid())) {
          ended(assignment, status);
          return;
        }
        base = found.get();
      } catch (ApiUnreachable e) {
        again(assignment, state, String.valueOf(e.getMessage()));
        return;
      }
    }
    base.setStatus(status);
    Operations.Written written = operations.writeStatus(base);
    if (written instanceof Operations.Written.Done done) {
      state.latest = done.operation();
      state.written = tree;
      state.retry = backoff.first();
      if (isFinal(status)) {
        ended(assignment, status);
      }
    } else if (written instanceof Operations.Written.Gone) {
      state.written = tree;
      if (isFinal(status)) {
        ended(assignment, status);
      }
    } else if (written instanceof Operations.Written.Conflict) {
      state.latest = null;
      schedule(assignment, Duration.ZERO);
    } else if (written instanceof Operations.Written.Failed failed) {
      state.latest = null;
      again(assignment, state, failed.why());
    }
  }

  private void again(Assignment assignment, State state, String why) {
    LOG.log(
        System.Logger.Level.WARNING,
        "status of {0} is not written, tried again in {1}: {2}",
        assignment.name(),
        state.retry,
        why);
    schedule(assignment, state.retry);
    state.retry = backoff.after(state.retry);
  }

  private static boolean isFinal(GpuNodeOperationStatus status) {
    OperationPhase phase = status.getPhase();
    return phase != null && phase.isFinal();
  }

  private void ended(Assignment assignment, GpuNodeOperationStatus status) {
    synchronized (states) {
      State state = states.get(assignment.uid());
      if (state != null && !state.scheduled) {
        states.remove(assignment.uid());
      }
      // Else it was corrected while its end was written: the next write is the last one.
    }
    endWritten.accept(assignment, status);
  }

  /** Writes what is due, and no more. */
  @Override
  public void close() throws InterruptedException {
    thread.shutdown();
    // Two writes with the API's own time limit of ten seconds; a successor writes what is left.
    if (!thread.awaitTermination(20, TimeUnit.SECONDS)) {
      thread.shutdownNow();
    }
  }
}
