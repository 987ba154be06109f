package dev.stasis.agent.cuda;

import dev.stasis.agent.cuda.DriverAnswer.Done;
import dev.stasis.agent.cuda.DriverAnswer.NoDriver;
import dev.stasis.agent.cuda.DriverAnswer.Refused;
import dev.stasis.agent.cuda.DriverAnswer.TimedOut;
import dev.stasis.agent.cuda.DriverAnswer.WorkerLost;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes the driver's calls through a child process. The first call starts it and it stays; after it
 * has ended by itself, the next call starts a new one. A call that changes something is never
 * repeated: {@link SettledState} determines its outcome.
 */
public final class DriverWorker implements CudaDriver, AutoCloseable {

  /**
   * A call with an unknown outcome: if it changes the process, the state of the process is unknown.
   *
   * @param call its name in the protocol
   * @param running how long it has been running
   */
  public record InFlight(String call, boolean mutating, ProcessId process, Duration running) {}

  private static final System.Logger LOG = System.getLogger(DriverWorker.class.getPackageName());

  /**
   * SIGKILL works immediately unless a call blocks the worker in the kernel; then we continue
   * without waiting.
   */
  private static final Duration AFTER_KILL = Duration.ofSeconds(5);

  /**
   * An idle worker ends within some ten milliseconds; one with a running call is left to end later.
   */
  private static final Duration AFTER_CLOSE = Duration.ofSeconds(2);

  private final WorkerSettings settings;
  private final Object lock = new Object();
  private @Nullable WorkerProcess worker;
  private boolean closed;

  public DriverWorker(WorkerSettings settings) {
    this.settings = settings;
  }

  /**
   * Returns whether the worker answers, which needs no driver; starts the worker if there is none.
   */
  public DriverAnswer<Boolean> ping(Duration deadline) {
    return ask(WorkerRequest.of(WorkerCall.PING), deadline, answer -> true);
  }

  @Override
  public DriverAnswer<CudaCall> state(ProcessId process, Duration deadline) {
    return call(WorkerRequest.of(WorkerCall.STATE, process), deadline);
  }

  @Override
  public DriverAnswer<CudaCall> restoreThread(ProcessId process, Duration deadline) {
    return call(WorkerRequest.of(WorkerCall.RESTORE_THREAD, process), deadline);
  }

  @Override
  public DriverAnswer<CudaCall> lock(ProcessId process, Duration timeout, Duration deadline) {
    int millis = (int) Math.min(timeout.toMillis(), Integer.MAX_VALUE);
    return call(WorkerRequest.of(WorkerCall.LOCK, process).withTimeout(millis), deadline);
  }

  @Override
  public DriverAnswer<CudaCall> checkpoint(ProcessId process, Duration deadline) {
    return call(WorkerRequest.of(WorkerCall.CHECKPOINT, process), deadline);
  }

  @Override
  public DriverAnswer<CudaCall> restore(ProcessId process, List<GpuPair> map, Duration deadline) {
    return call(WorkerRequest.of(WorkerCall.RESTORE, process).withMap(map), deadline);
  }

  @Override
  public DriverAnswer<CudaCall> unlock(ProcessId process, Duration deadline) {
    return call(WorkerRequest.of(WorkerCall.UNLOCK, process), deadline);
  }

  @Override
  public DriverAnswer<NodeGpus> gpus(Duration deadline) {
    return ask(WorkerRequest.of(WorkerCall.GPUS), deadline, WorkerAnswer::gpus);
  }

  @Override
  public DriverAnswer<Map<GpuUuid, Long>> memoryOf(ProcessId process, Duration deadline) {
    return ask(WorkerRequest.of(WorkerCall.GPU_MEMORY, process), deadline, WorkerAnswer::memory);
  }

  /** Calls that were sent and not answered, including those with a caller that gave up. */
  public List<InFlight> inFlight() {
    synchronized (lock) {
      return worker == null ? List.of() : inFlight(worker);
    }
  }

  private static List<InFlight> inFlight(WorkerProcess worker) {
    long now = System.nanoTime();
    return worker.pending().stream()
        .filter(pending -> pending.request().call().aboutAProcess())
        .map(
            pending ->
                new InFlight(
                    pending.request().call().toString(),
                    pending.request().call().mutating(),
                    pending.request().process(),
                    Duration.ofNanos(now - pending.since())))
        .toList();
  }

  /**
   * Kills the worker if one of its calls is overdue, and starts another. This is the last resort
   * and never the response to slowness: it ends our waiting, not the driver's work. If several
   * callers had calls in the same worker, only the first one kills it; the new worker is not killed
   * for the old calls.
   *
   * @param reason for the log and the waiting callers
   * @return the calls with an unknown outcome; each process that one of them changes must first be
   *     waited for ({@link SettledState}) before any other call
   */
  public List<InFlight> replace(String reason) {
    WorkerProcess old;
    List<InFlight> inDoubt;
    synchronized (lock) {
      old = worker;
      if (old == null || !old.overdue()) {
        return List.of();
      }
      inDoubt = inFlight(old);
      worker = null;
    }
    LOG.log(
        Level.WARNING,
        "Replacing driver worker {0}: {1}; unknown outcome: {2}",
        Long.toString(old.pid()),
        reason,
        inDoubt);
    old.kill("replaced: " + reason, AFTER_KILL);
    try {
      running();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "Cannot start another driver worker: {0}", e.getMessage());
    }
    return inDoubt;
  }

  /** The worker's pid, while it runs. */
  public OptionalLong pid() {
    synchronized (lock) {
      return worker != null && worker.isAlive()
          ? OptionalLong.of(worker.pid())
          : OptionalLong.empty();
    }
  }

  /** Lets the worker end after its calls have returned; it is not killed. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      if (worker != null) {
        worker.close(AFTER_CLOSE);
        worker = null;
      }
    }
  }

  private DriverAnswer<CudaCall> call(WorkerRequest request, Duration deadline) {
    DriverAnswer<CudaCall> answer = ask(request, deadline, WorkerAnswer::call);
    LOG.log(
        request.call().mutating() ? Level.INFO : Level.DEBUG,
        "{0} of process {1}: {2}",
        request.call(),
        request.process(),
        answer.describe());
    return answer;
  }

  private <T> DriverAnswer<T> ask(
      WorkerRequest request, Duration deadline, Function<WorkerAnswer, @Nullable T> value) {
    long until = System.nanoTime() + deadline.toNanos();
    CompletableFuture<DriverAnswer<WorkerAnswer>> answer;
    try {
      answer = running().send(request);
    } catch (IOException e) {
      return new WorkerLost<>("cannot be started: " + e.getMessage());
    }
    DriverAnswer<WorkerAnswer> outcome = await(answer, until, new TimedOut<>(deadline));
    if (outcome instanceof Done<WorkerAnswer> done) {
      return meaning(done.value(), value);
    }
    @SuppressWarnings("unchecked") // Only Done has a value.
    DriverAnswer<T> missing = (DriverAnswer<T>) outcome;
    return missing;
  }

  private WorkerProcess running() throws IOException {
    synchronized (lock) {
      if (closed) {
        throw new IOException("the driver was closed");
      }
      WorkerProcess now = worker;
      if (now == null || !now.isAlive()) {
        now = WorkerProcess.start(settings);
        worker = now;
      }
      return now;
    }
  }

  /**
   * An interrupt does not end the wait, because a caller that gave up during a call would not know
   * its outcome.
   */
  private static DriverAnswer<WorkerAnswer> await(
      CompletableFuture<DriverAnswer<WorkerAnswer>> answer,
      long until,
      TimedOut<WorkerAnswer> tooLate) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return answer.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          // If the answer has arrived at this very moment, it is used.
          answer.complete(tooLate);
        } catch (ExecutionException e) {
          throw new IllegalStateException("an answer cannot be an exception", e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static <T> DriverAnswer<T> meaning(
      WorkerAnswer answer, Function<WorkerAnswer, @Nullable T> value) {
    if (answer.refused() != null) {
      return new Refused<>(answer.refused(), answer.why() == null ? "" : answer.why());
    }
    if (answer.unavailable() != null) {
      return new NoDriver<>(answer.unavailable());
    }
    if (answer.failed() != null) {
      return new WorkerLost<>("the call failed in the worker: " + answer.failed());
    }
    T meant = value.apply(answer);
    return meant == null ? new WorkerLost<>("its answer contains no result") : new Done<>(meant);
  }
}
