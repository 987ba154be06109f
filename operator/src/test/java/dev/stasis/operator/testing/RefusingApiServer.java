package dev.stasis.operator.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An API server without objects that refuses each creation with 409. */
public final class RefusingApiServer implements AutoCloseable {

  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final HttpServer server;
  private final KubernetesClient client;

  /**
   * Starts a server.
   *
   * @param reason the reason in its answer to a creation
   */
  public RefusingApiServer(String reason) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> answer(exchange, reason));
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(Config.empty())
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .build())
            .build();
  }

  public KubernetesClient client() {
    return client;
  }

  /** Returns method and path of each request. */
  public List<String> requests() {
    return requests;
  }

  private void answer(HttpExchange exchange, String reason) throws IOException {
    try (exchange) {
      requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
      boolean creates = exchange.getRequestMethod().equals("POST");
      int code = creates ? HttpURLConnection.HTTP_CONFLICT : HttpURLConnection.HTTP_NOT_FOUND;
      byte[] body =
          """
          {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": %d,
           "reason": "%s", "message": "refused"}"""
              .formatted(code, creates ? reason : "NotFound")
              .getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(code, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    client.close();
    server.stop(0);
  }
}
