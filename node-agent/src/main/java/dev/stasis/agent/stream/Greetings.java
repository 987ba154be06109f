package dev.stasis.agent.stream;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The connections that have not authenticated yet. Their number and duration are limited. The
 * oldest is closed for a new one, because an expected peer authenticates within milliseconds.
 */
final class Greetings implements AutoCloseable {
  private final int most;
  private final Duration atMost;
  private final Map<Socket, Future<?>> open = new LinkedHashMap<>();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "stasis-stream-greetings");
            thread.setDaemon(true);
            return thread;
          });

  Greetings(int most, Duration atMost) {
    this.most = most;
    this.atMost = atMost;
  }

  /** A connection was accepted. */
  synchronized void began(Socket line) {
    if (open.size() >= most) {
      Socket oldest = open.keySet().iterator().next();
      ended(oldest);
      hangUp(oldest);
    }
    open.put(line, clock.schedule(() -> hangUp(line), atMost.toMillis(), TimeUnit.MILLISECONDS));
  }

  /** The time during which a connection counts as one of these: until this is closed. */
  Greeting of(Socket line) {
    return () -> ended(line);
  }

  /** A connection that must authenticate. */
  interface Greeting extends AutoCloseable {
    @Override
    void close();
  }

  private synchronized void ended(Socket line) {
    Future<?> deadline = open.remove(line);
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  private static void hangUp(Socket line) {
    try {
      line.close();
    } catch (IOException e) {
      System.getLogger(Greetings.class.getName()).log(Level.DEBUG, "Cannot close a connection", e);
    }
  }

  @Override
  public synchronized void close() {
    clock.shutdownNow();
    Set.copyOf(open.keySet()).forEach(Greetings::hangUp);
    open.clear();
  }
}
