package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.DriverAnswer.Done;
import dev.stasis.agent.cuda.DriverAnswer.NoDriver;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Libraries that are there and are not what is wanted: each is a state of the node. */
class DriverLibraryTest {

  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String NAMES =
      """
      int cuGetErrorName(int result, const char **name) {
        *name = result == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : "CUDA_ANY";
        return 0;
      }
      """;
  private static final String CALLS =
      """
      int cuCheckpointProcessGetState(int pid, int *state) { *state = 0; return 0; }
      int cuCheckpointProcessGetRestoreThreadId(int pid, int *tid) { *tid = pid; return 0; }
      int cuCheckpointProcessLock(int pid, void *args) { return 0; }
      int cuCheckpointProcessCheckpoint(int pid, void *args) { return 0; }
      int cuCheckpointProcessUnlock(int pid, void *args) { return 0; }
      """;

  private final ProcessId self = new ProcFs().id((int) ProcessHandle.current().pid()).orElseThrow();
  @TempDir Path folder;

  @Test
  void aDriverThatIsHalfUpdatedIsBroken() throws IOException, InterruptedException {
    library(NAMES + "int cuDriverGetVersion(int *version) { return 803; }\n");

    try (DriverWorker worker = worker()) {
      assertThat(worker.state(self, DEADLINE))
          .isEqualTo(
              new NoDriver<CudaCall>(
                  new DriverAvailability.Broken(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")));
    }
  }

  @Test
  void aDriverWithoutOneOfTheCallsIsOutdated() throws IOException, InterruptedException {
    library(
        NAMES + CALLS + "int cuDriverGetVersion(int *version) { *version = 12040; return 0; }\n");

    try (DriverWorker worker = worker()) {
      assertThat(worker.state(self, DEADLINE))
          .isEqualTo(
              new NoDriver<CudaCall>(
                  new DriverAvailability.Outdated(12040, "cuCheckpointProcessRestore")));
    }
  }

  @Test
  void aFileThatIsNoLibraryIsNamedWithTheLoadersWord() throws IOException {
    Files.writeString(folder.resolve("libcuda.so.1"), "no library");

    try (DriverWorker worker = worker()) {
      DriverAnswer<CudaCall> answer = worker.state(self, DEADLINE);
      assertThat(answer).isInstanceOf(NoDriver.class);
      assertThat(answer.describe()).contains(folder + "/libcuda.so.1 (").contains("file too short");
    }
  }

  @Test
  void aDriverThatIsInstalledLaterIsFound() throws IOException, InterruptedException {
    try (DriverWorker worker = worker()) {
      assertThat(worker.state(self, DEADLINE)).isInstanceOf(NoDriver.class);
      wholeLibrary("");
      assertThat(worker.state(self, DEADLINE)).isInstanceOf(Done.class);
    }
  }

  @Test
  void aLibraryThatPrintsDoesNotGarbleAnswers() throws IOException, InterruptedException {
    wholeLibrary("puts(\"{\\\"id\\\":1}\"); fflush(stdout);");

    try (DriverWorker worker = worker()) {
      for (int i = 0; i < 3; i++) {
        assertThat(worker.state(self, DEADLINE)).isInstanceOf(Done.class);
        assertThat(worker.restoreThread(self, DEADLINE)).isInstanceOf(Done.class);
      }
    }
    assertThat(folder.resolve("driver-worker.log")).content().contains("{\"id\":1}");
  }

  @Test
  void aLibraryThatCrashesEndsOnlyTheWorker() throws IOException, InterruptedException {
    wholeLibrary("if (access(\"%s/crash\", F_OK) == 0) abort();".formatted(folder));

    try (DriverWorker worker = worker()) {
      assertThat(worker.restoreThread(self, DEADLINE)).isInstanceOf(Done.class);
      Files.createFile(folder.resolve("crash"));
      assertThat(worker.restoreThread(self, DEADLINE)).isInstanceOf(Done.class);
      assertThat(worker.state(self, DEADLINE)).isInstanceOf(DriverAnswer.WorkerLost.class);
      Files.delete(folder.resolve("crash"));
      assertThat(worker.state(self, DEADLINE)).isInstanceOf(Done.class);
    }
  }

  private void wholeLibrary(String inGetState) throws IOException, InterruptedException {
    library(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
            + NAMES
            + CALLS.replace("*state = 0;", "*state = 0; " + inGetState)
            + "int cuCheckpointProcessRestore(int pid, void *args) { return 0; }\n"
            + "int cuInit(unsigned flags) { return 0; }\n"
            + "int cuDriverGetVersion(int *version) { *version = 12090; return 0; }\n");
  }

  private void library(String source) throws IOException, InterruptedException {
    Path file = Files.writeString(folder.resolve("driver.c"), source);
    Path made = folder.resolve("made.so");
    Process gcc =
        new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", made.toString(), file.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("gcc.log").toFile())
            .start();
    // A busy machine needs seconds for it, never some minutes.
    assertThat(gcc.waitFor(180, TimeUnit.SECONDS)).isTrue();
    assertThat(gcc.exitValue()).as(Files.readString(folder.resolve("gcc.log"))).isZero();
    Files.move(made, folder.resolve("libcuda.so.1"));
  }

  private DriverWorker worker() {
    Map<String, String> environment =
        Map.of("STASIS_LIBCUDA", folder.resolve("libcuda.so.1").toString());
    return new DriverWorker(WorkerSettings.here(folder).withEnvironment(environment));
  }
}
