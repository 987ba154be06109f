package dev.stasis.operator.admission;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Connections that have not yet completed a request for the path of a hook. Each has a time limit,
 * and above a maximum number the oldest is closed. Idle connections therefore cannot block the API
 * server's requests.
 */
final class UnprovenConnections {

  /** The API server has given up by then: the chart's webhook timeout is 3 s, the maximum 30 s. */
  static final long LIMIT_MILLISECONDS = 30_000;

  /** About 20 KiB each; API servers need a few at a time, for milliseconds. */
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

  synchronized void add(HttpConnection connection) {
    timers.put(connection, vertx.setTimer(limitMilliseconds, late -> connection.close()));
    connection.closeHandler(closed -> remove(connection));
    if (timers.size() > most) {
      HttpConnection oldest = timers.keySet().iterator().next();
      remove(oldest);
      var unusedClosed = oldest.close();
    }
  }

  /** Removes a connection that is closed, or has completed a request for a hook. */
  synchronized void remove(HttpConnection connection) {
    Long timer = timers.remove(connection);
    if (timer != null) {
      vertx.cancelTimer(timer);
    }
  }
}
