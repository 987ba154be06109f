package dev.stasis.agent.stream;

import java.io.IOException;
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
 * The connections that have not proven yet who they are. There are so many of them at most, and
 * none is one for long: the oldest gives way to the newest, since a peer that is expected greets in
 * milliseconds.
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

  /** How long a connection is one of these: until this is closed. */
  Greeting of(Socket line) {
    return () -> ended(line);
  }

  /** A connection that has to say who it is. */
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
      System.getLogger(Greetings.class.getName())
          .log(System.Logger.Level.DEBUG, "a connection could not be closed", e);
    }
  }

  @Override
  public synchronized void close() {
    clock.shutdownNow();
    Set.copyOf(open.keySet()).forEach(Greetings::hangUp);
    open.clear();
  }
}
