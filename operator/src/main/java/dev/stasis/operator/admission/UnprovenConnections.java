package dev.stasis.operator.admission;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Connections that have not yet completed a request for the path of a hook. Each has a time limit,
 * and beyond a number of them the oldest is closed: connections that only occupy the endpoint never
 * keep it from the API server.
 */
final class UnprovenConnections {

  /** The API server has given up by then: the chart's webhook timeout is 3 s, at most 30 s. */
  static final long LIMIT_MILLISECONDS = 30_000;

  /** Some 20 KiB each; API servers need a few at a time, and for milliseconds. */
  static final int MOST = 256;

  private final Vertx vertx;
  private final int most;
  private final long limitMilliseconds;
  private final Map<HttpConnection, Long> timers = new LinkedHashMap<>();

  UnprovenConnections(Vertx vertx, int most, long limitMilliseconds) {
    this.vertx = vertx;
    this.most = most;
    this.limitMilliseconds = limitMilliseconds;
  }

  /** Takes in a new connection. */
  synchronized void add(HttpConnection connection) {
    timers.put(connection, vertx.setTimer(limitMilliseconds, late -> connection.close()));
    connection.closeHandler(closed -> remove(connection));
    if (timers.size() > most) {
      HttpConnection oldest = timers.keySet().iterator().next();
      remove(oldest);
      var unusedClosed = oldest.close();
    }
  }

  /** Forgets a connection that is closed, or has completed a request for a hook. */
  synchronized void remove(HttpConnection connection) {
    Long timer = timers.remove(connection);
    if (timer != null) {
      vertx.cancelTimer(timer);
    }
  }
}
