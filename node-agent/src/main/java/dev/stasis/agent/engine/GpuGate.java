package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Precedes every driver Restore: one at a time on each GPU of this host, and only with enough free
 * device memory. A Restore without memory does not just fail but loses the workload permanently, so
 * it must not be tried.
 */
final class GpuGate {

  /**
   * Added to the recorded bytes: space for what the driver needs besides the workload's own memory.
   */
  static final long MARGIN_BYTES = 512L << 20;

  /** A GPU of less than 4 GiB (a simulated one) uses an eighth of its memory as the margin. */
  private static final long SMALL_GPU_SHARE = 8;

  /** NVML has no event for free memory; five polls a second add little to a resume. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  private final HostLocks locks;
  private final CudaDriver driver;
  private final LongSupplier nanoTime;

  GpuGate(HostLocks locks, CudaDriver driver, LongSupplier nanoTime) {
    this.locks = locks;
    this.driver = driver;
    this.nanoTime = nanoTime;
  }

  /** What the driver needs on a GPU besides the workload's own memory, in bytes. */
  static long margin(Gpu gpu) {
    return Math.min(MARGIN_BYTES, gpu.memoryTotal() / SMALL_GPU_SHARE);
  }

  /** The GPUs, locked until it is closed. */
  static final class Pass implements AutoCloseable {
    private final Deque<HostLocks.Held> held = new ArrayDeque<>();

    @Override
    public void close() {
      while (!held.isEmpty()) {
        held.pop().close();
      }
    }
  }

  /**
   * Locks the GPUs, in the order of their names so that no deadlock is possible, and waits until
   * each has the bytes free.
   *
   * @param wanted bytes that will be used on each GPU
   * @param limit how long to wait for memory and for other Restores
   */
  Pass enter(Map<GpuUuid, Long> wanted, Duration limit) throws StepFailure, InterruptedException {
    long until = nanoTime.getAsLong() + limit.toNanos();
    Pass pass = hold(wanted.keySet(), limit);
    try {
      awaitMemory(wanted, until, limit);
      return pass;
    } catch (StepFailure | InterruptedException | RuntimeException e) {
      pass.close();
      throw e;
    }
  }

  /** Locks the GPUs, in the order of their names, without checking their memory. */
  Pass hold(Set<GpuUuid> gpus, Duration limit) throws StepFailure, InterruptedException {
    long until = nanoTime.getAsLong() + limit.toNanos();
    Pass pass = new Pass();
    try {
      for (GpuUuid gpu : new TreeSet<>(gpus)) {
        Optional<HostLocks.Held> held =
            locks.take("gpu-" + gpu, Duration.ofNanos(Math.max(0, until - nanoTime.getAsLong())));
        pass.held.push(
            held.orElseThrow(
                () ->
                    new StepFailure(
                        Reason.NO_ROOM,
                        "GPU %s: another Restore held it for %d s"
                            .formatted(gpu, limit.toSeconds()))));
      }
      return pass;
    } catch (StepFailure | InterruptedException | RuntimeException e) {
      pass.close();
      throw e;
    }
  }

  private void awaitMemory(Map<GpuUuid, Long> wanted, long until, Duration limit)
      throws StepFailure, InterruptedException {
    while (true) {
      Optional<String> missing = missing(wanted);
      if (missing.isEmpty()) {
        return;
      }
      if (nanoTime.getAsLong() >= until) {
        throw new StepFailure(
            Reason.NO_ROOM, missing.get() + ", waited " + limit.toSeconds() + " s");
      }
      LockSupport.parkNanos(LOOK_EVERY.toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for device memory");
      }
    }
  }

  /** Returns a GPU with less free memory than required, with both numbers. */
  Optional<String> missing(Map<GpuUuid, Long> wanted) throws StepFailure {
    DriverAnswer<NodeGpus> answer = driver.gpus();
    if (!(answer instanceof DriverAnswer.Done<NodeGpus> done)) {
      throw new StepFailure(
          Reason.DRIVER_ERROR, "cannot determine the free device memory: " + answer.describe());
    }
    for (Map.Entry<GpuUuid, Long> entry : wanted.entrySet()) {
      Optional<Gpu> gpu = done.value().find(entry.getKey());
      if (gpu.isEmpty()) {
        return Optional.of("GPU " + entry.getKey() + ": expected on this node, got none");
      }
      long needed = entry.getValue() + margin(gpu.get());
      if (gpu.get().memoryFree() < needed) {
        return Optional.of(
            "free memory of GPU %s: expected %d bytes, got %d"
                .formatted(entry.getKey(), needed, gpu.get().memoryFree()));
      }
    }
    return Optional.empty();
  }
}
