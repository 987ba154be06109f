package dev.stasis.agent.cuda;

import dev.stasis.agent.cuda.NativeDriver.Reading;
import dev.stasis.agent.cuda.TargetGuard.Objection;
import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.mover.JournalReading;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Handles a request in the worker: checks the process, makes the call, reads the state. */
final class DriverCalls {

  private final NativeDriver driver;
  private final TargetGuard guard;
  private final JournalReader journals;
  private final Path stateFolder;
  private final Map<ProcessId, WorkerCall> running = new ConcurrentHashMap<>();

  DriverCalls(NativeDriver driver, TargetGuard guard, JournalReader journals, Path stateFolder) {
    this.driver = driver;
    this.guard = guard;
    this.journals = journals;
    this.stateFolder = stateFolder;
  }

  /** Blocks as long as the driver does. */
  WorkerAnswer answer(WorkerRequest request) {
    if (request.call().aboutAProcess()) {
      Optional<String> wrong = wrong(request);
      return wrong.isPresent()
          ? WorkerAnswer.refused(request.id(), Refusal.BAD_REQUEST, wrong.get())
          : aboutAProcess(request);
    }
    return request.call() == WorkerCall.GPUS
        ? WorkerAnswer.gpus(request.id(), driver.gpus())
        : WorkerAnswer.pong(request.id());
  }

  private static Optional<String> wrong(WorkerRequest request) {
    if (request.pid() <= 0 || request.start() < 0) {
      return Optional.of(
          "pid and start time: expected those of a process, got "
              + request.pid()
              + " and "
              + request.start());
    }
    if (request.call() == WorkerCall.LOCK && request.timeoutMillis() <= 0) {
      // 0 means forever to the driver.
      return Optional.of("timeoutMillis: expected 1 or more, got " + request.timeoutMillis());
    }
    return Optional.empty();
  }

  private WorkerAnswer aboutAProcess(WorkerRequest request) {
    if (request.call() == WorkerCall.GPU_MEMORY) {
      return gpuMemory(request);
    }
    ProcessId process = request.process();
    WorkerCall other = running.putIfAbsent(process, request.call());
    if (other != null) {
      return WorkerAnswer.refused(
          request.id(),
          Refusal.PROCESS_BUSY,
          "process " + process + ": its " + other + " has not returned yet");
    }
    try {
      Optional<Objection> objection;
      try {
        objection = objection(request, process);
      } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
        objection = Optional.of(new Objection(Refusal.CANNOT_TELL, e.toString()));
      }
      if (objection.isPresent()) {
        return WorkerAnswer.refused(request.id(), objection.get().refusal(), objection.get().why());
      }
      DriverAvailability availability = driver.availability();
      if (!(availability instanceof DriverAvailability.Present present)) {
        return WorkerAnswer.unavailable(request.id(), availability);
      }
      objection =
          request.call() == WorkerCall.RESTORE
              ? objectionToRestore(request, present)
              : Optional.empty();
      return objection.isPresent()
          ? WorkerAnswer.refused(request.id(), objection.get().refusal(), objection.get().why())
          : WorkerAnswer.called(request.id(), call(request));
    } finally {
      running.remove(process);
    }
  }

  private WorkerAnswer gpuMemory(WorkerRequest request) {
    // NVML does not need the process to run, so it may be stopped or frozen.
    Optional<Objection> gone = guard.gone(request.process());
    if (gone.isPresent()) {
      return WorkerAnswer.refused(request.id(), gone.get().refusal(), gone.get().why());
    }
    NativeDriver.GpuMemory memory = driver.memoryOf(request.pid());
    return memory.availability() instanceof DriverAvailability.Present
        ? WorkerAnswer.memory(request.id(), memory.bytes())
        : WorkerAnswer.unavailable(request.id(), memory.availability());
  }

  private Optional<Objection> objection(WorkerRequest request, ProcessId process)
      throws IOException {
    if (request.call().needsWholeRegions()) {
      for (JournalReading journal : journals.of(process, stateFolder)) {
        if (!journal.whole()) {
          return Optional.of(new Objection(Refusal.REGIONS_NOT_WHOLE, journal.describe()));
        }
      }
    }
    return guard.check(process);
  }

  private Optional<Objection> objectionToRestore(
      WorkerRequest request, DriverAvailability.Present present) {
    if (!request.map().isEmpty() && present.cudaVersion() < CudaDriver.VERSION_WITH_MAP) {
      return Optional.of(
          new Objection(
              Refusal.GPU_MAP_UNSUPPORTED,
              "map of GPUs: expected a driver for CUDA 13.0 (580) or newer, got "
                  + present.describe()));
    }
    // According to the driver's documentation, Restore needs persistence mode or cuInit in the
    // caller. cuInit is called as late as possible, because it makes the worker a user of every
    // GPU.
    if (driver.persistence()) {
      return Optional.empty();
    }
    int result = driver.init();
    return result == CudaResult.SUCCESS
        ? Optional.empty()
        : Optional.of(
            new Objection(
                Refusal.CUDA_INIT_FAILED,
                "cuInit, which a Restore needs without persistence mode: expected 0, got "
                    + new CudaResult(result, driver.resultName(result))));
  }

  private CudaCall call(WorkerRequest request) {
    int pid = request.pid();
    CudaState before = request.call().mutating() ? state(driver.state(pid)) : null;
    long begin = System.nanoTime();
    Reading reading =
        switch (request.call()) {
          case STATE -> driver.state(pid);
          case RESTORE_THREAD -> driver.restoreThread(pid);
          case LOCK -> new Reading(driver.lock(pid, request.timeoutMillis()), 0);
          case CHECKPOINT -> new Reading(driver.checkpoint(pid), 0);
          case RESTORE -> new Reading(driver.restore(pid, request.map()), 0);
          case UNLOCK -> new Reading(driver.unlock(pid), 0);
          default -> throw new IllegalStateException("not a call on a process: " + request.call());
        };
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    boolean succeeded = reading.result() == CudaResult.SUCCESS;
    CudaState after =
        switch (request.call()) {
          case STATE -> state(reading);
          case RESTORE_THREAD -> null;
          default -> state(driver.state(pid));
        };
    return new CudaCall(
        new CudaResult(reading.result(), driver.resultName(reading.result())),
        before,
        after,
        succeeded && request.call() == WorkerCall.RESTORE_THREAD ? reading.value() : 0,
        took);
  }

  private static @Nullable CudaState state(Reading reading) {
    return reading.result() == CudaResult.SUCCESS
        ? CudaState.of(reading.value()).orElse(null)
        : null;
  }
}
