package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Library;
import com.sun.jna.Native;
import dev.stasis.agent.cuda.DriverAnswer.Done;
import dev.stasis.agent.cuda.DriverAnswer.Refused;
import dev.stasis.agent.cuda.SimulatedNode.Counter;
import dev.stasis.agent.mover.RegionJournal;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the worker does not ask the driver for, with real processes. */
class DriverRefusalTest {

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration LOCK = Duration.ofSeconds(10);

  interface Tracer extends Library {
    long ptrace(long request, int pid, long address, long data);
  }

  private static final long PTRACE_SEIZE = 0x4206;

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
  void aStoppedProcessIsRefusedAtOnceByEveryCall() throws IOException, InterruptedException {
    Counter counter = node.counter("--mib", "4", "--threads", "3");
    SimulatedNode.signal("STOP", counter.id().pid());

    for (DriverAnswer<CudaCall> answer : everyCall(counter.id())) {
      expect(answer, Refusal.PROCESS_STOPPED, "stopped (state T)");
    }
    SimulatedNode.signal("CONT", counter.id().pid());
    assertThat(driver.state(counter.id(), DEADLINE)).isInstanceOf(Done.class);
    counter.goesOn();
  }

  @Test
  void aTracedProcessIsRefused() throws IOException {
    ProcessId process = node.counter("--mib", "4").id();
    // The tracer is this thread; the kernel lets go when the process is killed at the end.
    long seized = Native.load("c", Tracer.class).ptrace(PTRACE_SEIZE, process.pid(), 0, 0);
    assertThat(seized).isZero();

    for (DriverAnswer<CudaCall> answer : everyCall(process)) {
      expect(answer, Refusal.PROCESS_TRACED, "traced by");
    }
  }

  @Test
  void aFrozenProcessIsRefused() throws IOException {
    ProcessId process = node.counter("--mib", "4").id();
    try (FrozenCgroup cgroup = FrozenCgroup.around(process)) {
      for (DriverAnswer<CudaCall> answer : everyCall(process)) {
        expect(answer, Refusal.PROCESS_FROZEN, cgroup.folder().toString());
      }
    }
    assertThat(driver.state(process, DEADLINE)).isInstanceOf(Done.class);
  }

  @Test
  void aReusedPidIsNeverTouched() throws IOException {
    Counter counter = node.counter("--mib", "4");
    ProcessId earlier = new ProcessId(counter.id().pid(), counter.id().startTime() - 1);

    for (DriverAnswer<CudaCall> answer : everyCall(earlier)) {
      expect(answer, Refusal.PROCESS_GONE, "got another, " + counter.id());
    }
    assertThat(driver.state(counter.id(), DEADLINE))
        .isInstanceOfSatisfying(
            Done.class,
            done -> assertThat(((CudaCall) done.value()).state()).isEqualTo(CudaState.RUNNING));
  }

  @Test
  void aProcessThatEndedIsRefused() throws IOException {
    Counter counter = node.counter("--mib", "4");
    counter.process().destroyForcibly().onExit().join();

    expect(driver.state(counter.id(), DEADLINE), Refusal.PROCESS_GONE, "got none");
    assertThat(driver.memoryOf(counter.id(), DEADLINE)).isInstanceOf(Refused.class);
  }

  @Test
  void restoreAndUnlockWaitForTheLastChunk() throws IOException {
    Counter counter = node.counter("--mib", "4");
    ProcessId process = counter.id();
    Path journal =
        node.stateFolder().resolve("work/some container").resolve(RegionJournal.fileName(process));
    Files.createDirectories(journal.getParent());
    String text =
        ("stasis-regions 1 boot=%s pid=%d start=%d stage=/dev/shm/stage\n"
                + "R 0 7f0000000000 8388608\nC 0 7f0000000000 8388608 0 zero\nD 0 1\n")
            .formatted(new ProcFs().bootId(), process.pid(), process.startTime());
    driver.lock(process, LOCK, DEADLINE);
    driver.checkpoint(process, DEADLINE);

    Files.writeString(journal, text);
    expect(driver.restore(process, List.of(), DEADLINE), Refusal.REGIONS_NOT_WHOLE, "1 of 1");
    expect(driver.unlock(process, DEADLINE), Refusal.REGIONS_NOT_WHOLE, "/dev/shm/stage");
    Files.writeString(journal, text + "F 0");
    expect(driver.restore(process, List.of(), DEADLINE), Refusal.REGIONS_NOT_WHOLE, "1 of 1");
    Files.writeString(journal, text + "nonsense\nF 0\n");
    expect(driver.restore(process, List.of(), DEADLINE), Refusal.REGIONS_NOT_WHOLE, "line 5");
    assertThat(driver.state(process, DEADLINE)).isInstanceOf(Done.class);

    Files.writeString(journal, text + "F 0\n");
    assertThat(driver.restore(process, List.of(), DEADLINE)).isInstanceOf(Done.class);
    assertThat(driver.unlock(process, DEADLINE)).isInstanceOf(Done.class);
    counter.goesOn();
  }

  @Test
  void aLockForEverIsNotAskedFor() throws IOException {
    ProcessId process = node.counter("--mib", "4").id();

    expect(driver.lock(process, Duration.ZERO, DEADLINE), Refusal.BAD_REQUEST, "timeoutMillis");
  }

  @Test
  void anOlderDriverIsNotGivenAMap() throws IOException, InterruptedException {
    try (SimulatedNode old = new SimulatedNode(1, 64, "--cuda", "12080");
        DriverWorker worker = old.worker()) {
      Counter counter = old.counter("--mib", "4");
      worker.lock(counter.id(), LOCK, DEADLINE);
      worker.checkpoint(counter.id(), DEADLINE);
      GpuUuid gpu = old.gpus().get(0);

      expect(
          worker.restore(counter.id(), List.of(new GpuPair(gpu, gpu)), DEADLINE),
          Refusal.GPU_MAP_UNSUPPORTED,
          "CUDA 12.8");
      assertThat(worker.restore(counter.id(), List.of(), DEADLINE)).isInstanceOf(Done.class);
      worker.unlock(counter.id(), DEADLINE);
      counter.goesOn();
    }
  }

  @Test
  void aNodeWithoutADriverIsAStateAndNotAFailure() throws IOException {
    Map<String, String> nowhere = Map.of("STASIS_LIBCUDA", node.folder() + "/none/libcuda.so.1");
    WorkerSettings settings = WorkerSettings.here(node.stateFolder()).withEnvironment(nowhere);
    ProcessId process = node.start("sleep", "100");
    try (DriverWorker worker = new DriverWorker(settings)) {
      assertThat(worker.ping(DEADLINE)).isEqualTo(new Done<>(true));
      for (DriverAnswer<?> answer :
          List.of(
              worker.restoreThread(process, DEADLINE),
              worker.state(process, DEADLINE),
              worker.memoryOf(process, DEADLINE))) {
        assertThat(answer).isInstanceOf(DriverAnswer.NoDriver.class);
        assertThat(answer.describe()).startsWith("no driver: expected lib").contains("/none/");
      }
      DriverAnswer<NodeGpus> gpus = worker.gpus(DEADLINE);
      assertThat(gpus).isInstanceOf(Done.class);
      NodeGpus none = ((Done<NodeGpus>) gpus).value();
      assertThat(none.availability()).isInstanceOf(DriverAvailability.NoLibrary.class);
      assertThat(none.gpus()).isEmpty();
    }
  }

  private List<DriverAnswer<CudaCall>> everyCall(ProcessId process) {
    return List.of(
        driver.state(process, DEADLINE),
        driver.restoreThread(process, DEADLINE),
        driver.lock(process, LOCK, DEADLINE),
        driver.checkpoint(process, DEADLINE),
        driver.restore(process, List.of(), DEADLINE),
        driver.unlock(process, DEADLINE));
  }

  private static void expect(DriverAnswer<CudaCall> answer, Refusal refusal, String why) {
    assertThat(answer).as(answer.describe()).isInstanceOf(Refused.class);
    Refused<CudaCall> refused = (Refused<CudaCall>) answer;
    assertThat(refused.refusal()).isEqualTo(refusal);
    assertThat(refused.why()).contains(why);
  }
}
