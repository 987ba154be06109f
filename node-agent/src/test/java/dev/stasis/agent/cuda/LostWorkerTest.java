package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.cuda.DriverAnswer.Done;
import dev.stasis.agent.cuda.DriverAnswer.TimedOut;
import dev.stasis.agent.cuda.DriverAnswer.WorkerLost;
import dev.stasis.agent.cuda.DriverWorker.InFlight;
import dev.stasis.agent.cuda.SettledState.Outcome.Settled;
import dev.stasis.agent.cuda.SimulatedNode.Counter;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Workers that die inside a call, and calls that never return. */
class LostWorkerTest {

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration BRIEF = Duration.ofMillis(500);
  private static final Duration LOCK = Duration.ofSeconds(10);

  private final SettledState settled = new SettledState(new ProcFs());

  @SuppressWarnings("NullAway.Init")
  private SimulatedNode node;

  @SuppressWarnings("NullAway.Init")
  private DriverWorker driver;

  @BeforeEach
  void start() throws IOException, InterruptedException {
    node = new SimulatedNode(1, 128);
    driver = node.worker();
  }

  @AfterEach
  void end() throws IOException {
    driver.close();
    node.close();
  }

  @Test
  @Tag("jvm")
  void aCheckpointWhoseWorkerIsKilledFinishesAndCanBeUndone() throws Exception {
    Counter counter = node.counter("--mib", "16");
    ProcessId process = counter.id();
    int thread = thread(process);
    done(driver.lock(process, LOCK, DEADLINE));

    killedInside(process, "checkpoint", () -> driver.checkpoint(process, DEADLINE));

    assertThat(settle(process, thread)).isEqualTo(CudaState.CHECKPOINTED);
    expect(driver.restore(process, List.of(), DEADLINE), 0, CudaState.LOCKED);
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
    roundTrip(process);
    counter.goesOn();
  }

  @Test
  void aRestoreWhoseWorkerIsKilledFinishesAndCanBeUnlocked() throws Exception {
    Counter counter = node.counter("--mib", "16");
    ProcessId process = counter.id();
    int thread = thread(process);
    done(driver.lock(process, LOCK, DEADLINE));
    done(driver.checkpoint(process, DEADLINE));

    killedInside(process, "restore", () -> driver.restore(process, List.of(), DEADLINE));

    assertThat(settle(process, thread)).isEqualTo(CudaState.LOCKED);
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
    roundTrip(process);
    counter.goesOn();
  }

  @Test
  void aLockWhoseWorkerIsKilledIsSettledAndUndone() throws Exception {
    Counter counter = node.counter("--mib", "4");
    int thread = thread(counter.id());

    killedInside(counter.id(), "lock", () -> driver.lock(counter.id(), LOCK, DEADLINE));

    if (settle(counter.id(), thread) == CudaState.LOCKED) {
      expect(driver.unlock(counter.id(), DEADLINE), 0, CudaState.RUNNING);
    }
    counter.goesOn();
    roundTrip(counter.id());
    counter.goesOn();
  }

  @Test
  void anUnlockWhoseWorkerIsKilledIsSettledAndUndone() throws Exception {
    Counter counter = node.counter("--mib", "4");
    int thread = thread(counter.id());
    done(driver.lock(counter.id(), LOCK, DEADLINE));

    killedInside(counter.id(), "unlock", () -> driver.unlock(counter.id(), DEADLINE));

    if (settle(counter.id(), thread) == CudaState.LOCKED) {
      expect(driver.unlock(counter.id(), DEADLINE), 0, CudaState.RUNNING);
    }
    counter.goesOn();
  }

  @Test
  void theStateSaidDuringACopyIsNotTakenForItsEnd() throws Exception {
    Counter counter = node.counter("--mib", "16");
    ProcessId process = counter.id();
    int thread = thread(process);
    done(driver.lock(process, LOCK, DEADLINE));
    node.fault("checkpoint", process, "hold");
    CompletableFuture<DriverAnswer<CudaCall>> call =
        CompletableFuture.supplyAsync(() -> driver.checkpoint(process, BRIEF));
    awaitHeld("checkpoint", process);
    assertThat(call.join()).isInstanceOf(TimedOut.class);
    driver.replace("the test wants another worker");

    // What a naive look would say, and what the wait says.
    expect(driver.state(process, DEADLINE), 0, CudaState.CHECKPOINTED);
    assertThat(settled.await(driver, process, thread, BRIEF, DEADLINE))
        .isInstanceOf(SettledState.Outcome.StillBusy.class);
    assertThat(driver.unlock(process, DEADLINE)).isInstanceOfSatisfying(Done.class, this::harmless);
    node.release("checkpoint", process);
    assertThat(settle(process, thread)).isEqualTo(CudaState.CHECKPOINTED);
    expect(driver.restore(process, List.of(), DEADLINE), 0, CudaState.LOCKED);
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
  }

  private void harmless(Done<?> answer) {
    assertThat(((CudaCall) answer.value()).result().code()).isEqualTo(CudaResult.ILLEGAL_STATE);
  }

  @Test
  @Tag("jvm")
  void aCallThatHangsEndsAtItsDeadlineAndReplaceFreesUs() throws Exception {
    Counter counter = node.counter("--mib", "8");
    ProcessId process = counter.id();
    int thread = thread(process);
    done(driver.lock(process, LOCK, DEADLINE));
    node.fault("checkpoint", process, "hang");
    assertThat(driver.checkpoint(process, BRIEF)).isEqualTo(new TimedOut<CudaCall>(BRIEF));
    assertThat(driver.state(process, DEADLINE))
        .isEqualTo(
            new DriverAnswer.Refused<CudaCall>(
                Refusal.PROCESS_BUSY,
                "process " + process + ": its checkpoint has not returned yet"));

    List<InFlight> inDoubt = driver.replace("checkpoint hangs");

    assertThat(inDoubt).singleElement().extracting(InFlight::process).isEqualTo(process);
    assertThat(inDoubt).singleElement().extracting(InFlight::call).isEqualTo("checkpoint");
    assertThat(inDoubt.get(0).mutating()).isTrue();
    // Counted from its sending, which may be a while after the deadline began to run.
    assertThat(inDoubt.get(0).running()).isGreaterThanOrEqualTo(BRIEF.dividedBy(2));
    if (settle(process, thread) == CudaState.CHECKPOINTED) {
      expect(driver.restore(process, List.of(), DEADLINE), 0, CudaState.LOCKED);
    }
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
  }

  @Test
  void aReplacedWorkerTellsThoseWhoStillWait() throws Exception {
    ProcessId hanging = node.counter("--mib", "4").id();
    ProcessId waiting = node.counter("--mib", "4").id();
    node.fault("lock", hanging, "hang");
    node.fault("lock", waiting, "hang");
    CompletableFuture<DriverAnswer<CudaCall>> other =
        running(() -> driver.lock(waiting, LOCK, DEADLINE));
    assertThat(driver.lock(hanging, LOCK, BRIEF)).isInstanceOf(TimedOut.class);

    assertThat(driver.replace("one hangs")).hasSize(2);

    assertThat(other.join()).isEqualTo(new WorkerLost<CudaCall>("replaced: one hangs"));
  }

  @Test
  void aWorkerThatIsNotToBlameIsNotKilled() throws Exception {
    ProcessId process = node.counter("--mib", "4").id();
    node.fault("lock", process, "hang");
    assertThat(driver.lock(process, LOCK, BRIEF)).isInstanceOf(TimedOut.class);
    assertThat(driver.replace("the first of two")).hasSize(1);
    long second = driver.pid().orElseThrow();

    assertThat(driver.replace("the second of two")).isEmpty();

    assertThat(driver.pid()).hasValue(second);
  }

  @Test
  @Tag("jvm")
  void aWorkerThatEndedIsStartedAfreshByTheNextCall() throws Exception {
    ProcessId process = node.counter("--mib", "4").id();
    done(driver.ping(DEADLINE));
    long first = driver.pid().orElseThrow();

    SimulatedNode.signal("KILL", first);
    await().atMost(DEADLINE).until(() -> driver.pid().isEmpty());

    expect(driver.state(process, DEADLINE), 0, CudaState.RUNNING);
    assertThat(driver.pid().orElseThrow()).isNotEqualTo(first);
  }

  @Test
  void aWorkerThatIsLeftFinishesItsCall() throws Exception {
    Counter counter = node.counter("--mib", "16");
    ProcessId process = counter.id();
    done(driver.lock(process, LOCK, DEADLINE));
    node.fault("checkpoint", process, "hold");
    CompletableFuture<DriverAnswer<CudaCall>> call =
        CompletableFuture.supplyAsync(() -> driver.checkpoint(process, BRIEF));
    awaitHeld("checkpoint", process);
    assertThat(call.join()).isInstanceOf(TimedOut.class);
    long pid = driver.pid().orElseThrow();

    driver.close(); // as when the agent ends
    node.release("checkpoint", process);

    ProcessHandle.of(pid).ifPresent(worker -> worker.onExit().join());
    try (DriverWorker next = node.worker()) {
      expect(next.state(process, DEADLINE), 0, CudaState.CHECKPOINTED);
      expect(next.restore(process, List.of(), DEADLINE), 0, CudaState.LOCKED);
      expect(next.unlock(process, DEADLINE), 0, CudaState.RUNNING);
      counter.goesOn();
    }
  }

  @Test
  void aProcessThatDiesInsideACallIsSeenToBeGone() throws Exception {
    Counter counter = node.counter("--mib", "16");
    ProcessId process = counter.id();
    int thread = thread(process);
    done(driver.lock(process, LOCK, DEADLINE));
    node.fault("checkpoint", process, "hang");
    CompletableFuture<DriverAnswer<CudaCall>> call =
        running(() -> driver.checkpoint(process, DEADLINE));
    awaitFault("checkpoint", process);

    counter.process().destroyForcibly().onExit().join();

    assertThat(done(call.join()).result().code()).isEqualTo(CudaResult.OPERATING_SYSTEM);
    assertThat(settled.await(driver, process, thread, BRIEF, DEADLINE))
        .isInstanceOf(SettledState.Outcome.Gone.class);
  }

  private void killedInside(ProcessId process, String call, Supplier<DriverAnswer<CudaCall>> made)
      throws Exception {
    node.fault(call, process, "hold");
    CompletableFuture<DriverAnswer<CudaCall>> lost = CompletableFuture.supplyAsync(made);
    awaitHeld(call, process);
    SimulatedNode.signal("KILL", driver.pid().orElseThrow());
    assertThat(lost.join()).isInstanceOf(WorkerLost.class);
    node.release(call, process);
  }

  /** Starts a call and waits until it is in the worker, half a second into it. */
  private CompletableFuture<DriverAnswer<CudaCall>> running(Supplier<DriverAnswer<CudaCall>> made) {
    CompletableFuture<DriverAnswer<CudaCall>> call = CompletableFuture.supplyAsync(made);
    await()
        .atMost(DEADLINE)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () ->
                call.isDone()
                    || driver.inFlight().stream()
                        .anyMatch(flight -> flight.running().compareTo(BRIEF) > 0));
    return call;
  }

  /** A busy machine may not have brought the call to the driver by then. */
  private void awaitFault(String call, ProcessId process) {
    await()
        .atMost(DEADLINE)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> node.faultIsTaken(call, process));
  }

  private void awaitHeld(String call, ProcessId process) {
    await()
        .atMost(DEADLINE)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> node.isHeld(call, process));
  }

  private CudaState settle(ProcessId process, int thread) {
    SettledState.Outcome outcome = settled.await(driver, process, thread, DEADLINE, DEADLINE);
    assertThat(outcome).isInstanceOf(Settled.class);
    return done(((Settled) outcome).state()).stateAfter().orElseThrow();
  }

  private void roundTrip(ProcessId process) {
    expect(driver.lock(process, LOCK, DEADLINE), 0, CudaState.LOCKED);
    expect(driver.checkpoint(process, DEADLINE), 0, CudaState.CHECKPOINTED);
    expect(driver.restore(process, List.of(), DEADLINE), 0, CudaState.LOCKED);
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
  }

  private int thread(ProcessId process) {
    return done(driver.restoreThread(process, DEADLINE)).restoreThread().orElseThrow();
  }

  private static <T> T done(DriverAnswer<T> answer) {
    assertThat(answer).as(answer.describe()).isInstanceOf(Done.class);
    return ((Done<T>) answer).value();
  }

  private static void expect(DriverAnswer<CudaCall> answer, int result, CudaState state) {
    CudaCall call = done(answer);
    assertThat(call.result().code()).as(call.toString()).isEqualTo(result);
    assertThat(call.stateAfter()).as(call.toString()).contains(state);
  }
}
