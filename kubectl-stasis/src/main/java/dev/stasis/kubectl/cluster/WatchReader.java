package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Reads the events of {@code kubectl get --watch} on a thread of its own. Starts it again when the
 * API server ends it, which happens regularly.
 */
final class WatchReader implements AutoCloseable {

  /** After this many attempts without an event, the cluster is unreachable. */
  private static final int ATTEMPTS = 3;

  /** The server ends a watch after minutes. One that ended within 10 s has failed. */
  private static final Duration SHORT = Duration.ofSeconds(10);

  /** kubectl has closed its output, so it ends within milliseconds; 10 s on a loaded machine. */
  private static final long END_SECONDS = 10;

  /** What is read. */
  interface Listener {

    /** There was an event. */
    void event(String type, Resource object);

    /** The cluster is unreachable, or the object does not exist; there are no further events. */
    void failed(ClusterFailure why);
  }

  private final Supplier<Process> start;
  private final JsonReader json;
  private final String what;
  private final Listener listener;
  private volatile boolean closed;
  private volatile Process process;

  /**
   * @param start starts {@code kubectl get --watch --output-watch-events --output json}
   * @param what what is watched, for messages
   */
  WatchReader(Supplier<Process> start, JsonReader json, String what, Listener listener) {
    this.start = start;
    this.json = json;
    this.what = what;
    this.listener = listener;
    this.process = start.get();
  }

  /** Begins to read. */
  void begin() {
    Thread reader = new Thread(this::read, "watch");
    reader.setDaemon(true);
    reader.start();
  }

  @Override
  public void close() {
    closed = true;
    process.destroy();
  }

  private void read() {
    int failures = 0;
    while (!closed) {
      long begin = System.nanoTime();
      boolean some = readOnce();
      boolean isShort = Duration.ofNanos(System.nanoTime() - begin).compareTo(SHORT) < 0;
      failures = some || !(isShort || hasFailed()) ? 0 : failures + 1;
      if (closed) {
        return;
      }
      if (failures >= ATTEMPTS) {
        listener.failed(ClusterFailure.of(errors()));
        return;
      }
      process = start.get();
    }
  }

  /** Returns whether there was at least one event. */
  private boolean readOnce() {
    boolean some = false;
    try (JsonReader.Values events = json.values(process.getInputStream())) {
      for (JsonNode event = events.next(); !event.isMissingNode(); event = events.next()) {
        some = true;
        listener.event(event.path("type").asText(), new Resource(event.path("object")));
      }
    } catch (IOException cut) {
      // The process ended in the middle of an object; the next one starts with the complete state.
      return some;
    }
    return some;
  }

  private boolean hasFailed() {
    try {
      return !process.waitFor(END_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private String errors() {
    try {
      String said =
          new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return said.isEmpty() ? "connection to the server was lost while waiting for " + what : said;
    } catch (IOException gone) {
      return "connection to the server was lost while waiting for " + what;
    }
  }
}
