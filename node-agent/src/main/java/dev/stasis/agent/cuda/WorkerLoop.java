package dev.stasis.agent.cuda;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

/**
 * Reads request lines until the input ends, and writes an answer line for each when it is
 * available.
 */
final class WorkerLoop {

  private final Function<WorkerRequest, WorkerAnswer> calls;
  private final Executor executor;
  private final OutputStream out;
  private final PrintStream log;
  private final ObjectMapper json = new ObjectMapper();

  WorkerLoop(
      Function<WorkerRequest, WorkerAnswer> calls,
      Executor executor,
      OutputStream out,
      PrintStream log) {
    this.calls = calls;
    this.executor = executor;
    this.out = out;
    this.log = log;
  }

  void run(InputStream in) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      take(line);
    }
  }

  private void take(String line) {
    WorkerRequest request;
    try {
      request = json.readValue(line, WorkerRequest.class);
    } catch (JsonProcessingException e) {
      // The id could not be read; no request has id 0.
      write(WorkerAnswer.refused(0, Refusal.BAD_REQUEST, e.getOriginalMessage()));
      return;
    }
    try {
      executor.execute(() -> write(answer(request)));
    } catch (RejectedExecutionException e) {
      write(
          WorkerAnswer.refused(
              request.id(),
              Refusal.WORKER_BUSY,
              "the maximum number of concurrent calls is reached"));
    }
  }

  private WorkerAnswer answer(WorkerRequest request) {
    try {
      return calls.apply(request);
    } catch (RuntimeException | Error e) {
      // The driver may have been called already: report an unknown outcome, and log the details.
      e.printStackTrace(log);
      return WorkerAnswer.failed(request.id(), e.toString());
    }
  }

  private void write(WorkerAnswer answer) {
    try {
      byte[] line = (json.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8);
      synchronized (out) {
        out.write(line);
        out.flush();
      }
    } catch (IOException e) {
      // The agent is gone; the running calls still finish.
      log.println("answer " + answer.id() + " could not be written: " + e.getMessage());
    }
  }
}
