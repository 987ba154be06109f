package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the worker asks of the native layer, and in which order; the target is this very JVM. */
class DriverCallsTest {

  private static final GpuUuid GPU = new GpuUuid("GPU-00112233-4455-6677-8899-aabbccddeeff");

  private final ProcFs proc = new ProcFs();
  private final ProcessId self =
      proc.id((int) ProcessHandle.current().pid()).orElseThrow(IllegalStateException::new);
  private final FakeDriver driver = new FakeDriver();
  @TempDir Path stateFolder;

  @SuppressWarnings("NullAway.Init")
  private DriverCalls calls;

  @BeforeEach
  void wire() {
    calls =
        new DriverCalls(
            driver,
            new TargetGuard(proc, new FrozenCgroups(proc)),
            new JournalReader(proc),
            stateFolder);
  }

  @Test
  void aCallThatChangesSomethingReadsTheStateBeforeAndAfter() {
    WorkerAnswer answer = answer(about(WorkerCall.LOCK).withTimeout(250));

    assertThat(driver.calls).containsExactly("state", "lock 250", "state");
    assertThat(answer.before()).isEqualTo(CudaState.RUNNING);
    assertThat(answer.state()).isEqualTo(CudaState.RUNNING);
    assertThat(answer.name()).isEqualTo("NAME_0");
  }

  @Test
  void aQuestionIsOneCall() {
    answer(about(WorkerCall.STATE));
    WorkerAnswer thread = answer(about(WorkerCall.RESTORE_THREAD));

    assertThat(driver.calls).containsExactly("state", "restoreThread");
    assertThat(thread.thread()).isEqualTo(77);
  }

  @Test
  void anErrorOfTheDriverComesWithItsNameAndWithoutAThread() {
    driver.result = 3;

    WorkerAnswer answer = answer(about(WorkerCall.RESTORE_THREAD));

    assertThat(answer.result()).isEqualTo(3);
    assertThat(answer.thread()).isNull();
  }

  @Test
  void aStateOfANewerDriverIsNoState() {
    driver.state = new NativeDriver.Reading(0, 9);

    assertThat(answer(about(WorkerCall.STATE)).state()).isNull();
  }

  @Test
  void cuInitIsNotCalledWithPersistenceModeOn() {
    answer(about(WorkerCall.RESTORE));

    assertThat(driver.calls).containsExactly("state", "restore []", "state");
  }

  @Test
  void cuInitComesBeforeARestoreWithoutPersistenceModeAndBeforeNothingElse() {
    driver.persistence = false;

    answer(about(WorkerCall.CHECKPOINT));
    answer(about(WorkerCall.UNLOCK));
    assertThat(driver.calls).doesNotContain("init");

    driver.calls.clear();
    answer(about(WorkerCall.RESTORE));
    assertThat(driver.calls).containsExactly("init", "state", "restore []", "state");
  }

  @Test
  void aRestoreIsNotTriedWhenCuInitFails() {
    driver.persistence = false;
    driver.initResult = 802;

    WorkerAnswer answer = answer(about(WorkerCall.RESTORE));

    assertThat(answer.refused()).isEqualTo(Refusal.CUDA_INIT_FAILED);
    assertThat(answer.why()).contains("802 NAME_802");
    assertThat(driver.calls).containsExactly("init");
  }

  @Test
  void aMapGoesToADriverThatKnowsIt() {
    WorkerRequest request = about(WorkerCall.RESTORE).withMap(List.of(new GpuPair(GPU, GPU)));

    answer(request);
    assertThat(driver.calls).contains("restore [" + GPU + "=" + GPU + "]");

    driver.calls.clear();
    driver.availability = new DriverAvailability.Present("fake", 12090);
    assertThat(answer(request).refused()).isEqualTo(Refusal.GPU_MAP_UNSUPPORTED);
    assertThat(driver.calls).isEmpty();
  }

  @Test
  void withoutADriverNothingIsCalled() {
    driver.availability = new DriverAvailability.Broken(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");

    for (WorkerCall call : List.of(WorkerCall.STATE, WorkerCall.CHECKPOINT, WorkerCall.UNLOCK)) {
      assertThat(answer(about(call)).unavailable()).isEqualTo(driver.availability);
    }
    assertThat(driver.calls).isEmpty();
  }

  @Test
  void aProcessHasOneCallAtATimeAndThenTheNext() {
    driver.breaks = true;
    try {
      answer(about(WorkerCall.CHECKPOINT));
    } catch (RuntimeException e) {
      assertThat(e).isSameAs(driver.broken);
    }
    driver.breaks = false;

    assertThat(answer(about(WorkerCall.STATE)).refused()).isNull();
  }

  @Test
  void aJournalThatCannotBeReadIsNotTakenForNone() throws IOException {
    Path work = Files.createDirectories(stateFolder.resolve("work/one"));
    Files.createDirectory(
        work.resolve("regions-" + self.pid() + "-" + self.startTime() + ".journal"));

    assertThat(answer(about(WorkerCall.UNLOCK)).refused()).isEqualTo(Refusal.REGIONS_NOT_WHOLE);
    assertThat(answer(about(WorkerCall.CHECKPOINT)).refused()).isNull();
  }

  @Test
  void deviceMemoryIsToldByGpu() {
    driver.memory = new NativeDriver.GpuMemory(driver.availability, Map.of(GPU, 4096L));

    assertThat(answer(about(WorkerCall.GPU_MEMORY)).memory()).isEqualTo(Map.of(GPU, 4096L));
  }

  @Test
  void aRequestWithoutAProcessIsRefused() {
    WorkerAnswer answer = answer(WorkerRequest.of(WorkerCall.STATE));

    assertThat(answer.refused()).isEqualTo(Refusal.BAD_REQUEST);
    assertThat(answer.why()).startsWith("pid and start time: expected");
  }

  private WorkerRequest about(WorkerCall call) {
    return WorkerRequest.of(call, self);
  }

  private WorkerAnswer answer(WorkerRequest request) {
    return calls.answer(request);
  }
}
