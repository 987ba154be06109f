package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The protocol, letter by letter. */
@Tag("jvm")
class WorkerLoopTest {

  private static final GpuUuid GPU = new GpuUuid("GPU-00112233-4455-6677-8899-aabbccddeeff");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final ObjectMapper json = new ObjectMapper();

  @Test
  void aCallIsReadAndAnsweredAsTheContractSays() throws IOException {
    run(
        request -> {
          assertThat(request)
              .isEqualTo(new WorkerRequest(7, WorkerCall.LOCK, 4242, 99887, 30000, null));
          return WorkerAnswer.called(
              7,
              new CudaCall(
                  new CudaResult(0, "CUDA_SUCCESS"),
                  CudaState.RUNNING,
                  CudaState.LOCKED,
                  0,
                  Duration.ofNanos(1210_999)));
        },
        "{\"id\":7,\"call\":\"lock\",\"pid\":4242,\"start\":99887,\"timeoutMillis\":30000}");

    assertThat(answers())
        .containsExactly(
            "{\"id\":7,\"result\":0,\"name\":\"CUDA_SUCCESS\",\"before\":\"RUNNING\","
                + "\"state\":\"LOCKED\",\"micros\":1210}");
  }

  @Test
  void aRefusalIsAnsweredAsTheContractSays() throws IOException {
    run(
        request -> WorkerAnswer.refused(request.id(), Refusal.REGIONS_NOT_WHOLE, "3 of 2048"),
        "{\"id\":8,\"call\":\"restore\",\"pid\":1,\"start\":2,\"gpuPairs\":[[\"%s\",\"%s\"]]}"
            .formatted(GPU, GPU));

    assertThat(answers())
        .containsExactly("{\"id\":8,\"refused\":\"REGIONS_NOT_WHOLE\",\"why\":\"3 of 2048\"}");
  }

  @Test
  void requestsAndAnswersSurviveTheProtocol() throws IOException {
    WorkerRequest request =
        new WorkerRequest(9, WorkerCall.RESTORE, 4242, 99887, 0, null)
            .withMap(List.of(new GpuPair(GPU, GPU)));
    String line = json.writeValueAsString(request);
    assertThat(line)
        .isEqualTo(
            "{\"id\":9,\"call\":\"restore\",\"pid\":4242,\"start\":99887,"
                + "\"gpuPairs\":[[\"%s\",\"%s\"]]}",
            GPU, GPU);
    assertThat(json.readValue(line, WorkerRequest.class)).isEqualTo(request);

    Gpu gpu = new Gpu(0, GPU, "NVIDIA H200", 2, 1, "00000000:1B:00.0", "9.0", false, true);
    NodeGpus gpus =
        new NodeGpus(
            new DriverAvailability.Present("libcuda.so.1", 13000),
            "580.159.04",
            13000,
            List.of(gpu),
            List.of(new GpuLink(0, 1, GpuLink.Relation.NVLINK)));
    for (WorkerAnswer answer :
        List.of(
            WorkerAnswer.gpus(1, gpus),
            WorkerAnswer.memory(2, Map.of(GPU, 5L)),
            WorkerAnswer.unavailable(4, new DriverAvailability.NoLibrary("l", List.of("/a"))),
            WorkerAnswer.unavailable(5, new DriverAvailability.NoDevice("why")),
            WorkerAnswer.unavailable(6, new DriverAvailability.Outdated(12040, "cuX")),
            WorkerAnswer.unavailable(7, new DriverAvailability.Broken(803, "NAME")),
            WorkerAnswer.failed(8, "why"),
            WorkerAnswer.pong(9))) {
      String text = json.writeValueAsString(answer);
      assertThat(json.readValue(text, WorkerAnswer.class)).as(text).isEqualTo(answer);
    }
  }

  @Test
  void aLineThatIsNoRequestIsRefusedAndTheNextIsServed() throws IOException {
    run(
        request -> WorkerAnswer.pong(request.id()),
        "nonsense",
        "{\"id\":1,\"call\":\"destroy\"}",
        "{\"id\":2,\"call\":\"ping\",\"more\":\"of a newer agent\"}");

    assertThat(answers()).hasSize(3);
    assertThat(answers().subList(0, 2)).allMatch(line -> line.contains("BAD_REQUEST"));
    assertThat(answers().get(2)).isEqualTo("{\"id\":2}");
  }

  @Test
  void aCallThatBreaksSaysThatNothingIsKnown() throws IOException {
    run(
        request -> {
          throw new IllegalStateException("broken");
        },
        "{\"id\":3,\"call\":\"ping\"}");

    assertThat(answers().get(0)).contains("\"id\":3,\"failed\":").contains("broken");
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("IllegalStateException");
  }

  @Test
  void moreCallsThanTheWorkerTakesAreRefusedAtOnce() throws IOException {
    Executor full =
        call -> {
          throw new RejectedExecutionException();
        };
    loop(request -> WorkerAnswer.pong(request.id()), full, out)
        .run(lines("{\"id\":4,\"call\":\"ping\"}"));

    assertThat(answers().get(0)).contains("WORKER_BUSY");
  }

  @Test
  void anAgentThatIsGoneDoesNotStopTheCalls() throws IOException {
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    List<Long> served = new java.util.ArrayList<>();
    loop(
            request -> {
              served.add(request.id());
              return WorkerAnswer.pong(request.id());
            },
            Runnable::run,
            closed)
        .run(lines("{\"id\":1,\"call\":\"ping\"}", "{\"id\":2,\"call\":\"ping\"}"));

    assertThat(served).containsExactly(1L, 2L);
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("could not be written");
  }

  private void run(Function<WorkerRequest, WorkerAnswer> calls, String... lines)
      throws IOException {
    loop(calls, Runnable::run, out).run(lines(lines));
  }

  private WorkerLoop loop(
      Function<WorkerRequest, WorkerAnswer> calls, Executor executor, OutputStream answers) {
    return new WorkerLoop(
        calls, executor, answers, new PrintStream(log, true, StandardCharsets.UTF_8));
  }

  private static ByteArrayInputStream lines(String... lines) {
    return new ByteArrayInputStream(
        (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private List<String> answers() {
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }
}
