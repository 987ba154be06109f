package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAnswer.Done;
import dev.stasis.agent.cuda.SimulatedNode.Counter;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each call in each situation, through the worker and the JNA binding, as an H200 answered. */
@Tag("jvm")
class DriverWorkerTest {

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration LOCK = Duration.ofSeconds(10);

  @SuppressWarnings("NullAway.Init")
  private SimulatedNode node;

  @SuppressWarnings("NullAway.Init")
  private DriverWorker driver;

  @BeforeEach
  void start() throws IOException, InterruptedException {
    node = new SimulatedNode(2, 128);
    driver = node.worker();
  }

  @AfterEach
  void end() throws IOException {
    driver.close();
    node.close();
  }

  @Test
  void everyCallInEveryStateGivesWhatTheChipGives() throws IOException {
    Counter counter = node.counter("--mib", "8");
    ProcessId process = counter.id();

    expect(driver.state(process, DEADLINE), 0, CudaState.RUNNING);
    expect(driver.checkpoint(process, DEADLINE), 401, CudaState.RUNNING);
    expect(driver.restore(process, List.of(), DEADLINE), 401, CudaState.RUNNING);
    expect(driver.unlock(process, DEADLINE), 401, CudaState.RUNNING);
    expect(driver.lock(process, LOCK, DEADLINE), 0, CudaState.LOCKED);
    expect(driver.lock(process, LOCK, DEADLINE), 401, CudaState.LOCKED);
    expect(driver.restore(process, List.of(), DEADLINE), 401, CudaState.LOCKED);
    expect(driver.checkpoint(process, DEADLINE), 0, CudaState.CHECKPOINTED);
    expect(driver.lock(process, LOCK, DEADLINE), 401, CudaState.CHECKPOINTED);
    expect(driver.checkpoint(process, DEADLINE), 401, CudaState.CHECKPOINTED);
    expect(driver.unlock(process, DEADLINE), 401, CudaState.CHECKPOINTED);
    CudaCall restore = expect(driver.restore(process, List.of(), DEADLINE), 0, CudaState.LOCKED);
    assertThat(restore.before()).isEqualTo(CudaState.CHECKPOINTED);
    assertThat(restore.result().name()).isEqualTo("CUDA_SUCCESS");
    assertThat(restore.took()).isPositive();
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
  }

  @Test
  void theRestoreThreadIsAThreadOfTheProcess() throws IOException {
    ProcessId process = node.counter("--mib", "4").id();

    int thread = done(driver.restoreThread(process, DEADLINE)).restoreThread().orElseThrow();

    assertThat(java.nio.file.Path.of("/proc", "" + process.pid(), "task", "" + thread)).exists();
  }

  @Test
  void aProcessWithoutCudaIsToldFromOneWithIt() throws IOException {
    ProcessId process = node.start("sleep", "100");

    CudaCall call = done(driver.restoreThread(process, DEADLINE));

    assertThat(call.result().code()).isEqualTo(CudaResult.NOT_INITIALIZED);
    assertThat(call.result().notCuda()).isTrue();
    assertThat(call.restoreThread()).isEmpty();
    assertThat(done(driver.lock(process, LOCK, DEADLINE)).result().notCuda()).isTrue();
  }

  @Test
  void aLockThatTakesTooLongLeavesTheProcessRunning() throws IOException {
    Counter counter = node.counter("--mib", "4", "--kernel-ms", "700");
    Duration brief = Duration.ofMillis(100);

    CudaCall call = done(driver.lock(counter.id(), brief, DEADLINE));
    while (call.succeeded()) { // it landed between two kernels
      expect(driver.unlock(counter.id(), DEADLINE), 0, CudaState.RUNNING);
      call = done(driver.lock(counter.id(), brief, DEADLINE));
    }

    assertThat(call.result().code()).isEqualTo(CudaResult.NOT_READY);
    assertThat(call.stateAfter()).contains(CudaState.RUNNING);
  }

  @Test
  void managedMemoryIsRefusedByTheDriverAndUndoneByUnlock() throws IOException {
    Counter counter = node.counter("--mib", "4", "--managed");

    expect(driver.lock(counter.id(), LOCK, DEADLINE), 0, CudaState.LOCKED);
    expect(driver.checkpoint(counter.id(), DEADLINE), 801, CudaState.LOCKED);
    expect(driver.unlock(counter.id(), DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
  }

  @Test
  void aProcessComesBackOnAnotherGpuByAMapOfAllThatItSaw() throws IOException {
    Counter counter = node.counter("--mib", "4");
    ProcessId process = counter.id();
    GpuUuid first = node.gpus().get(0);
    GpuUuid second = node.gpus().get(1);
    done(driver.lock(process, LOCK, DEADLINE));
    done(driver.checkpoint(process, DEADLINE));

    List<GpuPair> half = List.of(new GpuPair(first, second));
    expect(driver.restore(process, half, DEADLINE), 1, CudaState.CHECKPOINTED);
    List<GpuPair> swap = List.of(new GpuPair(first, second), new GpuPair(second, first));
    expect(driver.restore(process, swap, DEADLINE), 0, CudaState.LOCKED);
    expect(driver.unlock(process, DEADLINE), 0, CudaState.RUNNING);
    counter.goesOn();
  }

  @Test
  void aRestoreWithoutDeviceMemoryHasNoSecondTry() throws IOException {
    ProcessId victim = node.counter("--mib", "64").id();
    done(driver.lock(victim, LOCK, DEADLINE));
    done(driver.checkpoint(victim, DEADLINE));
    Counter other = node.counter("--mib", "100");

    expect(driver.restore(victim, List.of(), DEADLINE), 2, CudaState.CHECKPOINTED);
    other.process().destroyForcibly().onExit().join();
    expect(driver.restore(victim, List.of(), DEADLINE), 304, CudaState.CHECKPOINTED);
    expect(driver.unlock(victim, DEADLINE), 401, CudaState.CHECKPOINTED);
  }

  @Test
  void callsOfDifferentProcessesRunSideBySide() throws IOException {
    Counter slow = node.counter("--mib", "8");
    Counter quick = node.counter("--mib", "8", "--device", "1");
    done(driver.lock(slow.id(), LOCK, DEADLINE));
    node.fault("checkpoint", slow.id(), "hang");
    CompletableFuture<DriverAnswer<CudaCall>> hanging =
        CompletableFuture.supplyAsync(() -> driver.checkpoint(slow.id(), Duration.ofSeconds(3)));

    expect(driver.lock(quick.id(), LOCK, DEADLINE), 0, CudaState.LOCKED);
    expect(driver.checkpoint(quick.id(), DEADLINE), 0, CudaState.CHECKPOINTED);
    expect(driver.restore(quick.id(), List.of(), DEADLINE), 0, CudaState.LOCKED);
    expect(driver.unlock(quick.id(), DEADLINE), 0, CudaState.RUNNING);

    quick.goesOn();
    assertThat(hanging.join()).isInstanceOf(DriverAnswer.TimedOut.class);
  }

  @Test
  void anInterruptedCallerStillLearnsWhatTheCallDid() throws IOException {
    Counter counter = node.counter("--mib", "4");
    done(driver.ping(DEADLINE));
    Thread.currentThread().interrupt();

    DriverAnswer<CudaCall> answer = driver.lock(counter.id(), LOCK, DEADLINE);

    assertThat(Thread.interrupted()).isTrue();
    expect(answer, 0, CudaState.LOCKED);
  }

  private static <T> T done(DriverAnswer<T> answer) {
    assertThat(answer).as(answer.describe()).isInstanceOf(Done.class);
    return ((Done<T>) answer).value();
  }

  private static CudaCall expect(DriverAnswer<CudaCall> answer, int result, CudaState state) {
    CudaCall call = done(answer);
    assertThat(call.result().code()).as(call.toString()).isEqualTo(result);
    assertThat(call.stateAfter()).as(call.toString()).contains(state);
    return call;
  }
}
