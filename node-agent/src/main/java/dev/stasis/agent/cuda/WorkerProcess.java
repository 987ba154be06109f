package dev.stasis.agent.cuda;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.cuda.DriverAnswer.WorkerLost;
import dev.stasis.agent.process.ChildStart;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One driver worker, from its start to its end. */
final class WorkerProcess {

  /** A request without an answer. */
  record Pending(
      WorkerRequest request, long since, CompletableFuture<DriverAnswer<WorkerAnswer>> answer) {}

  private static final System.Logger LOG = System.getLogger(WorkerProcess.class.getPackageName());

  /** The log is only for recent problems, so its size is limited. */
  private static final long LOG_BYTES = 1 << 20;

  private final Process process;
  private final OutputStream in;
  private final ObjectMapper json = new ObjectMapper();
  private final AtomicLong lastId = new AtomicLong();
  private final Map<Long, Pending> pending = new ConcurrentHashMap<>();
  private volatile @Nullable String end;

  private WorkerProcess(Process process) {
    this.process = process;
    this.in = process.getOutputStream();
  }

  /**
   * @throws IOException if the program cannot be started
   */
  static WorkerProcess start(WorkerSettings settings) throws IOException {
    Path log = settings.log();
    Path folder = log.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    if (Files.exists(log) && Files.size(log) > LOG_BYTES) {
      Files.delete(log);
    }
    ProcessBuilder builder = new ProcessBuilder(settings.command());
    builder.environment().putAll(settings.environment());
    builder
        .environment()
        .put(DriverWorkerMain.STATE_FOLDER, settings.stateFolder().toAbsolutePath().toString());
    // A file: a pipe without a reader would block the worker, and keep inherited descriptors open.
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    WorkerProcess worker = new WorkerProcess(new ChildStart().startAway(builder));
    Thread reader = new Thread(worker::read, "driver-worker-" + worker.pid());
    reader.setDaemon(true);
    reader.start();
    return worker;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return end == null && process.isAlive();
  }

  List<Pending> pending() {
    return List.copyOf(pending.values());
  }

  /** Returns whether a caller gave up waiting for a call that is still running. */
  boolean overdue() {
    return pending.values().stream().anyMatch(request -> request.answer().isDone());
  }

  /**
   * Sends a request. The future always completes, but not before an answer or the end of the
   * worker.
   */
  CompletableFuture<DriverAnswer<WorkerAnswer>> send(WorkerRequest request) {
    WorkerRequest numbered = request.withId(lastId.incrementAndGet());
    CompletableFuture<DriverAnswer<WorkerAnswer>> answer = new CompletableFuture<>();
    pending.put(numbered.id(), new Pending(numbered, System.nanoTime(), answer));
    try {
      byte[] line = (json.writeValueAsString(numbered) + "\n").getBytes(StandardCharsets.UTF_8);
      synchronized (in) {
        in.write(line);
        in.flush();
      }
    } catch (JsonProcessingException e) {
      pending.remove(numbered.id());
      throw new IllegalStateException("cannot write the request as JSON", e);
    } catch (IOException e) {
      ended("it does not accept requests: " + e.getMessage());
    }
    String over = end;
    if (over != null) {
      // The worker ended between the check and the write: no other code would complete the request.
      ended(over);
    }
    return answer;
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        take(line);
      }
      ended("worker " + pid() + " ended");
    } catch (IOException e) {
      ended("worker " + pid() + " cannot be read: " + e.getMessage());
    }
  }

  private void take(String line) {
    WorkerAnswer answer;
    try {
      answer = json.readValue(line, WorkerAnswer.class);
    } catch (JsonProcessingException e) {
      LOG.log(
          Level.WARNING,
          "Driver worker {0} sent an invalid answer: {1}",
          Long.toString(pid()),
          line);
      return;
    }
    Pending request = pending.remove(answer.id());
    if (request == null) {
      LOG.log(
          Level.WARNING,
          "Driver worker {0} sent an unexpected answer: {1}",
          Long.toString(pid()),
          line);
      return;
    }
    boolean nobodyWaits = !request.answer().complete(new DriverAnswer.Done<>(answer));
    if (nobodyWaits) {
      LOG.log(
          Level.WARNING,
          "Driver worker {0} answered after the deadline: {1}",
          Long.toString(pid()),
          line);
    }
  }

  /** The first reason is the real one: a killed worker also stops answering. */
  private synchronized String because(String why) {
    String first = end;
    if (first == null) {
      first = why;
      end = why;
    }
    return first;
  }

  private void ended(String why) {
    String reason = because(why);
    for (Pending lost : pending()) {
      pending.remove(lost.request().id());
      lost.answer().complete(new WorkerLost<>(reason));
    }
  }

  /** Kills it and waits for its end, with a limit: a call may block it in the kernel. */
  void kill(String why, Duration patience) {
    because(why);
    process.destroyForcibly();
    ended(why);
    awaitEnd(patience);
  }

  /** Lets it end by itself after its calls have returned. */
  void close(Duration patience) {
    try {
      synchronized (in) {
        in.close();
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "Input of the driver worker was already closed", e);
    }
    awaitEnd(patience);
  }

  private void awaitEnd(Duration patience) {
    try {
      if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.log(Level.WARNING, "Driver worker {0} has not exited yet", Long.toString(pid()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
