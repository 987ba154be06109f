package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** {@code kubectl get --watch}, restarted when the API server ends it, which happens regularly. */
final class KubectlWatch implements Watching {

  /** After this many attempts without an event, the cluster is unreachable. */
  private static final int ATTEMPTS = 3;

  /**
   * kubectl watches one object from "now", after it has read it: a deletion in between is no event.
   */
  static final Duration LOOK_AFTER = Duration.ofSeconds(10);

  private sealed interface Word {
    record Seen(Resource object) implements Word {}

    record Failed(ClusterFailure why) implements Word {}
  }

  private final Supplier<Process> start;
  private final ObjectMapper mapper;
  private final String what;
  private final Supplier<Optional<Resource>> look;
  private final Duration lookAfter;
  private final BlockingQueue<Word> words = new LinkedBlockingQueue<>();
  private Duration silent = Duration.ZERO;
  private volatile boolean closed;
  private volatile Process process;

  /**
   * @param start starts {@code kubectl get --watch}
   * @param look reads the object; empty if it does not exist
   * @param lookAfter how long no event may come before the object is read
   */
  KubectlWatch(
      Supplier<Process> start,
      ObjectMapper mapper,
      String what,
      Supplier<Optional<Resource>> look,
      Duration lookAfter) {
    this.start = start;
    this.mapper = mapper;
    this.what = what;
    this.look = look;
    this.lookAfter = lookAfter;
    this.process = start.get();
    Thread reader = new Thread(this::read, "watch");
    reader.setDaemon(true);
    reader.start();
  }

  @Override
  public Optional<Resource> next(Duration atMost) throws InterruptedException {
    Word word = words.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    if (word instanceof Word.Failed failed) {
      throw failed.why();
    }
    silent = word == null ? silent.plus(atMost) : Duration.ZERO;
    if (silent.compareTo(lookAfter) >= 0) {
      silent = Duration.ZERO;
      return Optional.of(look.get().orElseThrow(this::deleted));
    }
    return word instanceof Word.Seen seen ? Optional.of(seen.object()) : Optional.empty();
  }

  @Override
  public void close() {
    closed = true;
    process.destroy();
  }

  private void read() {
    int silent = 0;
    while (!closed) {
      int before = silent;
      silent = readOnce() ? 0 : before + 1;
      if (closed) {
        return;
      }
      if (silent >= ATTEMPTS) {
        ClusterFailure why = ClusterFailure.of(errors());
        // The object existed when the wait began.
        boolean gone = why.why() == ClusterFailure.Why.NOT_FOUND;
        words.add(new Word.Failed(gone ? deleted() : why));
        return;
      }
      process = start.get();
    }
  }

  /** Returns whether there was at least one event. */
  private boolean readOnce() {
    boolean some = false;
    try (MappingIterator<JsonNode> events =
        mapper.readerFor(JsonNode.class).readValues(process.getInputStream())) {
      while (events.hasNextValue()) {
        JsonNode event = events.nextValue();
        some = true;
        if (event.path("type").asText().equals("DELETED")) {
          words.add(new Word.Failed(deleted()));
          closed = true;
          return true;
        }
        words.add(new Word.Seen(new Resource(event.path("object"))));
      }
    } catch (IOException cut) {
      // The process ended in the middle of an object; the next one starts with the complete state.
      return some;
    }
    return some;
  }

  private ClusterFailure deleted() {
    return new ClusterFailure(
        ClusterFailure.Why.NOT_FOUND, what + " was deleted in the meantime", "");
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
