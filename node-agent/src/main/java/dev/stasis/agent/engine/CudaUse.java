package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.Refusal;
import dev.stasis.agent.preflight.CudaTraces;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Determines whether a process uses CUDA. For a process that was just forked, or is about to end,
 * the driver returns a system error: it ends within a moment, or a second call returns the real
 * answer. For a process that was stopped before, the driver must not be called, because it would
 * never return: such a process does not use CUDA if it has nothing of CUDA.
 */
final class CudaUse {

  /** A process without device memory is gone within milliseconds, even on a busy machine. */
  private static final Duration ENDING = Duration.ofSeconds(1);

  private final Function<ProcessId, DriverAnswer<CudaCall>> driver;
  private final Predicate<ProcessId> endsNow;
  private final Predicate<ProcessId> couldUse;

  /**
   * @param driver returns the restore thread
   * @param endsNow whether a process has ended, or ends while this waits briefly
   * @param couldUse whether a process has the files of one that uses CUDA
   */
  CudaUse(
      Function<ProcessId, DriverAnswer<CudaCall>> driver,
      Predicate<ProcessId> endsNow,
      Predicate<ProcessId> couldUse) {
    this.driver = driver;
    this.endsNow = endsNow;
    this.couldUse = couldUse;
  }

  static CudaUse of(NodeParts node) {
    return new CudaUse(
        process -> node.driver().restoreThread(process),
        process -> node.pids().awaitEnd(process, ENDING),
        process -> couldUse(node.proc(), process));
  }

  private static boolean couldUse(ProcFs proc, ProcessId process) {
    List<String> mapped = proc.maps(process.pid()).stream().map(MemoryMapping::path).toList();
    return new CudaTraces(mapped, proc.openFiles(process.pid())).any();
  }

  /** Returns the thread that the driver uses for Restore; empty for a process without CUDA. */
  OptionalInt restoreThread(ProcessId process) throws StepFailure {
    DriverAnswer<CudaCall> answer = driver.apply(process);
    if (isStopped(answer) && !couldUse.test(process)) {
      return OptionalInt.empty();
    }
    Optional<OptionalInt> known = known(answer);
    if (known.isEmpty() && ofTheProcess(answer)) {
      if (endsNow.test(process)) {
        return OptionalInt.empty();
      }
      answer = driver.apply(process);
      known = known(answer);
    }
    if (known.isPresent()) {
      return known.get();
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "cannot determine whether process %s uses CUDA: %s".formatted(process, answer.describe()));
  }

  private static boolean isStopped(DriverAnswer<CudaCall> answer) {
    return answer instanceof DriverAnswer.Refused<CudaCall> refused
        && refused.refusal() == Refusal.PROCESS_STOPPED;
  }

  /**
   * Returns whether the process may be the cause of the answer. A missing answer is always caused
   * by the driver.
   */
  private static boolean ofTheProcess(DriverAnswer<CudaCall> answer) {
    return answer instanceof DriverAnswer.Done || answer instanceof DriverAnswer.Refused;
  }

  private static Optional<OptionalInt> known(DriverAnswer<CudaCall> answer) {
    if (!(answer instanceof DriverAnswer.Done<CudaCall> done)) {
      return Optional.empty();
    }
    if (done.value().succeeded()) {
      return Optional.of(done.value().restoreThread());
    }
    return done.value().result().notCuda() ? Optional.of(OptionalInt.empty()) : Optional.empty();
  }
}
