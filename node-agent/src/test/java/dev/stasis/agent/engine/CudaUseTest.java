package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaResult;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.Refusal;
import dev.stasis.agent.process.ProcessId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class CudaUseTest {

  private static final ProcessId PROCESS = new ProcessId(500, 7);
  private static final DriverAnswer<CudaCall> THREAD_9 = done(CudaResult.SUCCESS, "SUCCESS", 9);
  private static final DriverAnswer<CudaCall> NO_CUDA =
      done(CudaResult.NOT_INITIALIZED, "NOT_INITIALIZED", 0);
  private static final DriverAnswer<CudaCall> SYSTEM =
      done(CudaResult.OPERATING_SYSTEM, "OPERATING_SYSTEM", 0);
  private static final DriverAnswer<CudaCall> NOTHING =
      new DriverAnswer.TimedOut<>(Duration.ofSeconds(30));

  private static final DriverAnswer<CudaCall> STOPPED =
      new DriverAnswer.Refused<>(Refusal.PROCESS_STOPPED, "its thread 500 is stopped");

  private final Deque<DriverAnswer<CudaCall>> answers = new ArrayDeque<>();
  private boolean ends;
  private boolean couldUse;

  @Test
  void theDriverKnows() throws StepFailure {
    answers.add(THREAD_9);
    answers.add(NO_CUDA);

    assertThat(use().restoreThread(PROCESS)).hasValue(9);
    assertThat(use().restoreThread(PROCESS)).isEmpty();
  }

  @Test
  void anEndingProcessDoesNotUseCuda() throws StepFailure {
    answers.add(SYSTEM);
    ends = true;

    assertThat(use().restoreThread(PROCESS)).isEmpty();
  }

  @Test
  void aProcessThatWasJustForkedIsQueriedAgain() throws StepFailure {
    answers.addAll(List.of(SYSTEM, NO_CUDA, SYSTEM, THREAD_9));

    assertThat(use().restoreThread(PROCESS)).isEmpty();
    assertThat(use().restoreThread(PROCESS)).hasValue(9);
  }

  @Test
  void aProcessWhoseUseOfCudaStaysUnknownStopsTheFreeze() {
    answers.addAll(List.of(SYSTEM, SYSTEM));

    assertThatThrownBy(() -> use().restoreThread(PROCESS))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("cannot determine whether process 500@7 uses CUDA: 304");
  }

  @Test
  void aDriverThatDoesNotAnswerIsNotQueriedAgain() {
    answers.add(NOTHING);
    ends = true;

    assertThatThrownBy(() -> use().restoreThread(PROCESS)).isInstanceOf(StepFailure.class);
    assertThat(answers).isEmpty();
  }

  @Test
  void aStoppedProcessIsAcceptedOnlyIfItCannotUseCuda() throws StepFailure {
    answers.addAll(List.of(STOPPED, STOPPED, STOPPED));

    assertThat(use().restoreThread(PROCESS)).isEmpty();
    couldUse = true;
    assertThatThrownBy(() -> use().restoreThread(PROCESS))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("PROCESS_STOPPED: its thread 500 is stopped");
  }

  private CudaUse use() {
    return new CudaUse(process -> answers.remove(), process -> ends, process -> couldUse);
  }

  private static DriverAnswer<CudaCall> done(int code, String name, int thread) {
    return new DriverAnswer.Done<>(
        new CudaCall(
            new CudaResult(code, "CUDA_ERROR_" + name), null, null, thread, Duration.ZERO));
  }
}
