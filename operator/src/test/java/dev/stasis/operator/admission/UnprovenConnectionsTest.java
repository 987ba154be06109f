package dev.stasis.operator.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UnprovenConnectionsTest {

  private static final long LONG = Duration.ofHours(1).toMillis();

  private final Vertx vertx = Vertx.vertx();
  private final List<String> closed = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    var unusedClosed = vertx.close();
  }

  /** One that only tells when it is closed. */
  private HttpConnection connection(String name) {
    return (HttpConnection)
        Proxy.newProxyInstance(
            HttpConnection.class.getClassLoader(),
            new Class<?>[] {HttpConnection.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "close" -> {
                    closed.add(name);
                    yield Future.succeededFuture();
                  }
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> name.hashCode();
                  default -> proxy;
                });
  }

  @Test
  void theOldestMakesRoomForANewOne() {
    UnprovenConnections connections = new UnprovenConnections(vertx, 2, LONG);
    HttpConnection proven = connection("proven");
    connections.add(proven);
    connections.remove(proven);
    connections.add(connection("first"));
    connections.add(connection("second"));
    assertThat(closed).isEmpty();

    connections.add(connection("third"));
    assertThat(closed).containsExactly("first");
  }

  @Test
  void oneThatCompletesNoRequestInTimeIsClosed() {
    UnprovenConnections connections = new UnprovenConnections(vertx, 2, 1);
    connections.add(connection("slow"));

    await().atMost(Duration.ofSeconds(60)).until(() -> closed.contains("slow"));
  }
}
