package dev.stasis.agent.engine;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.CudaState;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverDeadline;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.direct.Keepers;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Single driver calls on a process, for users: with the same locks and the same check of free
 * device memory as the engine.
 */
public final class ManualDriverControl {

  /** GetState and NVML answer in milliseconds, or seconds while a region is filled. */
  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  /** Added to the driver's lock timeout: the communication with the worker. */
  private static final Duration LOCK_SLACK = Duration.ofSeconds(10);

  /** Unlock takes about a millisecond; after a minute it hangs. */
  private static final Duration UNLOCK_DEADLINE = Duration.ofSeconds(60);

  private final CudaDriver driver;
  private final ProcFs proc = new ProcFs();
  private final ContainerResolver containers = new ContainerResolver(proc);
  private final HostLocks locks;
  private final GpuGate gate;
  private final WorkJournal journal;
  private final ManualCheckpointRecord notes;

  /**
   * Manual calls on this node.
   *
   * @param stateDir the node's state folder
   */
  public ManualDriverControl(Path stateDir, CudaDriver driver) {
    this.driver = driver;
    this.locks = new HostLocks(stateDir, System::nanoTime);
    this.gate = new GpuGate(locks, driver, System::nanoTime);
    this.journal = new WorkJournal(stateDir);
    this.notes = new ManualCheckpointRecord(stateDir);
  }

  /**
   * Options of a manual call.
   *
   * @param lockTimeout how long the driver may wait for running kernels
   * @param map the new GPU for each old one; empty for the same ones
   * @param deviceBytes device memory that a Restore needs on each GPU; if empty, the value recorded
   *     at the checkpoint is used, else all anonymous memory of the process, which is never too
   *     little
   * @param memoryWait how long to wait for free device memory
   * @param evenInHand also on a workload with an operation of the engine
   */
  public record How(
      Duration lockTimeout,
      List<GpuPair> map,
      Optional<Long> deviceBytes,
      Duration memoryWait,
      boolean evenInHand) {

    public How {
      map = List.copyOf(map);
    }
  }

  /** Returns the driver's state of the process. */
  public HandOutcome state(int pid) {
    return proc.id(pid)
        .map(process -> heard(process, driver.state(process, QUESTION_DEADLINE)))
        .orElseGet(() -> gone(pid));
  }

  /** Returns the thread of the process that does the driver's work. */
  public HandOutcome restoreThread(int pid) {
    return proc.id(pid)
        .map(process -> heard(process, driver.restoreThread(process, QUESTION_DEADLINE)))
        .orElseGet(() -> gone(pid));
  }

  /** RUNNING to LOCKED. */
  public HandOutcome lock(int pid, How how) throws InterruptedException {
    return alone(pid, how, process -> lock(process, how));
  }

  /** LOCKED to CHECKPOINTED. */
  public HandOutcome checkpoint(int pid, How how) throws InterruptedException {
    return alone(
        pid, how, process -> ofTheDirectPath(process).orElseGet(() -> checkpoint(process)));
  }

  /** CHECKPOINTED to LOCKED, after checking that the device memory is free. */
  public HandOutcome restore(int pid, How how) throws InterruptedException {
    return alone(pid, how, process -> restore(process, how));
  }

  /** LOCKED to RUNNING. */
  public HandOutcome unlock(int pid, How how) throws InterruptedException {
    return alone(pid, how, this::unlock);
  }

  /**
   * RUNNING to CHECKPOINTED or back, in two calls; after a failed Checkpoint the process is
   * unlocked again.
   */
  public HandOutcome toggle(int pid, How how) throws InterruptedException {
    return alone(
        pid,
        how,
        process -> {
          HandOutcome now = heard(process, driver.state(process, QUESTION_DEADLINE));
          Optional<CudaState> state =
              now instanceof HandOutcome.Answered answered
                  ? answered.call().stateAfter()
                  : Optional.empty();
          if (state.isEmpty()) {
            return now;
          }
          return switch (state.get()) {
            case RUNNING -> out(process, how);
            case CHECKPOINTED -> {
              HandOutcome back = restore(process, how);
              yield succeeded(back) ? unlock(process) : back;
            }
            default ->
                new HandOutcome.Refused(
                    ("state of process %s: expected RUNNING or CHECKPOINTED, got %s; unlock or"
                            + " checkpoint it")
                        .formatted(process, state.get()));
          };
        });
  }

  /** Its library may have passed memory to a keeper, which the driver can no longer restore. */
  private Optional<HandOutcome> ofTheDirectPath(ProcessId process) {
    return Keepers.isActive(proc.maps(process.pid()))
        ? Optional.of(
            new HandOutcome.Refused(
                ("process %s: expected one without the direct data path, got one with its"
                        + " library; checkpoint the container instead")
                    .formatted(process)))
        : Optional.empty();
  }

  private HandOutcome out(ProcessId process, How how) {
    Optional<HandOutcome> refused = ofTheDirectPath(process);
    if (refused.isPresent()) {
      return refused.get();
    }
    HandOutcome locked = lock(process, how);
    if (!succeeded(locked)) {
      return locked;
    }
    HandOutcome gone = checkpoint(process);
    if (gone instanceof HandOutcome.Answered answered
        && answered.call().stateAfter().filter(CudaState.LOCKED::equals).isPresent()) {
      unlock(process);
    }
    return gone;
  }

  private HandOutcome lock(ProcessId process, How how) {
    return heard(
        process, driver.lock(process, how.lockTimeout(), how.lockTimeout().plus(LOCK_SLACK)));
  }

  private HandOutcome checkpoint(ProcessId process) {
    Map<GpuUuid, Long> held =
        driver.memoryOf(process, QUESTION_DEADLINE)
                instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done
            ? done.value()
            : Map.of();
    if (!held.isEmpty()) {
      notes.write(process, held);
    }
    long bytes = held.isEmpty() ? anonymous(process) : total(held);
    return heard(process, driver.checkpoint(process, DriverDeadline.forBytes(bytes).checkpoint()));
  }

  private HandOutcome unlock(ProcessId process) {
    return heard(process, driver.unlock(process, UNLOCK_DEADLINE));
  }

  private HandOutcome restore(ProcessId process, How how) throws InterruptedException {
    DriverAnswer<NodeGpus> gpus = driver.gpus(QUESTION_DEADLINE);
    if (!(gpus instanceof DriverAnswer.Done<NodeGpus> done)) {
      return new HandOutcome.Refused("cannot determine the free device memory: " + gpus.describe());
    }
    Map<GpuUuid, Long> wanted = wanted(process, how, done.value());
    if (wanted.isEmpty()) {
      return new HandOutcome.Refused(
          "GPUs of process %s: expected at least one in its /dev, got none".formatted(process));
    }
    try (GpuGate.Pass pass = gate.enter(wanted, how.memoryWait())) {
      HandOutcome outcome =
          heard(
              process,
              driver.restore(process, how.map(), DriverDeadline.forBytes(total(wanted)).restore()));
      if (succeeded(outcome)) {
        notes.remove(process);
      }
      return outcome;
    } catch (StepFailure noRoom) {
      return new HandOutcome.Refused(String.valueOf(noRoom.getMessage()));
    }
  }

  private Map<GpuUuid, Long> wanted(ProcessId process, How how, NodeGpus gpus) {
    Optional<Map<GpuUuid, Long>> noted =
        how.deviceBytes().isPresent() ? Optional.empty() : notes.read(process);
    Map<GpuUuid, Long> before = new TreeMap<>();
    if (noted.isPresent()) {
      before.putAll(noted.get());
    } else {
      long bytes = how.deviceBytes().orElseGet(() -> anonymous(process));
      for (Gpu gpu : new ContainerGpus(proc.root()).of(process.pid(), gpus.gpus())) {
        before.put(gpu.uuid(), bytes);
      }
      how.map().forEach(pair -> before.putIfAbsent(pair.from(), bytes));
    }
    Map<GpuUuid, Long> wanted = new TreeMap<>();
    before.forEach((gpu, bytes) -> wanted.merge(after(gpu, how.map()), bytes, Long::sum));
    return wanted;
  }

  private static GpuUuid after(GpuUuid before, List<GpuPair> map) {
    return map.stream()
        .filter(pair -> pair.from().equals(before))
        .map(GpuPair::to)
        .findFirst()
        .orElse(before);
  }

  private long anonymous(ProcessId process) {
    return proc.memory(process.pid(), "RssAnon").orElse(0);
  }

  private static long total(Map<GpuUuid, Long> bytes) {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }

  private interface Call {
    HandOutcome on(ProcessId process) throws InterruptedException;
  }

  /** Makes the call while no other agent or command acts on the process's container. */
  private HandOutcome alone(int pid, How how, Call call) throws InterruptedException {
    Optional<ProcessId> process = proc.id(pid);
    if (process.isEmpty()) {
      return gone(pid);
    }
    String container =
        containers.byPid(pid) instanceof Resolution.Found found
            ? found.container().id()
            : "pid-" + pid + "-" + process.get().startTime();
    Optional<HostLocks.Held> lock = locks.tryTake(container);
    if (lock.isEmpty()) {
      return new HandOutcome.Refused(
          "another operation is running on container %s; wait until it is finished"
              .formatted(container));
    }
    try (HostLocks.Held held = lock.get()) {
      Optional<Work> work = journal.read(container);
      if (work.isPresent() && !how.evenInHand()) {
        return new HandOutcome.Refused(
            "container %s is in use by %s (%s); thaw it instead: stasis-node thaw %s"
                .formatted(container, work.get().owner(), work.get().phase(), container));
      }
      return call.on(process.get());
    }
  }

  private static HandOutcome gone(int pid) {
    return new HandOutcome.Refused(
        "process %d: expected a running process, got none".formatted(pid));
  }

  private static boolean succeeded(HandOutcome outcome) {
    return outcome instanceof HandOutcome.Answered answered && answered.call().succeeded();
  }

  private static HandOutcome heard(ProcessId process, DriverAnswer<CudaCall> answer) {
    if (answer instanceof DriverAnswer.Done<CudaCall> done) {
      return new HandOutcome.Answered(process, done.value());
    }
    if (answer instanceof DriverAnswer.TimedOut || answer instanceof DriverAnswer.WorkerLost) {
      return new HandOutcome.InDoubt(process, answer.describe());
    }
    if (answer instanceof DriverAnswer.Refused<CudaCall> refused) {
      return new HandOutcome.Refused(refused.why());
    }
    return new HandOutcome.Refused(answer.describe());
  }
}
