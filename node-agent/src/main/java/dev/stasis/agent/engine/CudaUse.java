package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.Refusal;
import dev.stasis.agent.preflight.CudaTraces;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Asks whether a process uses CUDA. Of one that was only just forked, or is about to end, the
 * driver answers with an error of the system: it ends within a moment, or a second question gets
 * the true answer. Of one that somebody has stopped the driver must not be asked, for it would
 * never return: it does not use CUDA when it has nothing of CUDA's.
 */
final class CudaUse {

  /** The driver answers these in a millisecond; half a minute means that it is in trouble. */
  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  /** A process without device memory is gone in milliseconds, also on a busy machine. */
  private static final Duration ENDING = Duration.ofSeconds(1);

  private final Function<ProcessId, DriverAnswer<CudaCall>> driver;
  private final Predicate<ProcessId> endsNow;
  private final Predicate<ProcessId> couldUse;

  /**
   * @param driver asks for the restore thread
   * @param endsNow whether a process has ended, or does within the moment that it waits
   * @param couldUse whether a process has what one that uses CUDA has
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
        process -> node.driver().restoreThread(process, QUESTION_DEADLINE),
        process -> ends(node.pids(), process),
        process -> couldUse(node.proc(), process));
  }

  private static boolean couldUse(ProcFs proc, ProcessId process) {
    List<String> mapped = proc.maps(process.pid()).stream().map(MemoryMapping::path).toList();
    return new CudaTraces(mapped, proc.openFiles(process.pid())).any();
  }

  private static boolean ends(PidFds pids, ProcessId process) {
    try (PidFd held = pids.open(process).orElse(null)) {
      return held == null || held.awaitEnd(ENDING);
    }
  }

  /** The thread that the driver uses for Restore; empty of a process without CUDA. */
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
        "whether process %s uses CUDA is not known: %s".formatted(process, answer.describe()));
  }

  private static boolean isStopped(DriverAnswer<CudaCall> answer) {
    return answer instanceof DriverAnswer.Refused<CudaCall> refused
        && refused.refusal() == Refusal.PROCESS_STOPPED;
  }

  /** Whether the answer may be due to the process. No answer at all is due to the driver. */
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
