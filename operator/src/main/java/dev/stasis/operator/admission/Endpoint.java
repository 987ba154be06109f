package dev.stasis.operator.admission;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLSocket;

/** The HTTPS endpoint: a path for each hook, one AdmissionReview there and back. */
final class Endpoint implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Endpoint.class.getName());

  /** The API server refuses larger objects itself; an update sends two. */
  private static final int LARGEST = 8 << 20;

  /** Each answer takes a few requests to the API server, milliseconds each. */
  private static final int THREADS = 8;

  /** It has taken 3 s on a node with ten times more work than cores. */
  private static final int HANDSHAKE_MILLISECONDS = 20_000;

  private final HttpsServer server;
  private final ExecutorService threads;
  private final Reviews reviews;
  private final SecondTry secondTry = new SecondTry();

  private Endpoint(HttpsServer server, ExecutorService threads, Reviews reviews) {
    this.server = server;
    this.threads = threads;
    this.reviews = reviews;
  }

  /** Opens it. */
  static Endpoint open(
      int port, ServedKeys keys, Collection<? extends AdmissionHook> hooks, Reviews reviews)
      throws IOException {
    HttpsServer server = HttpsServer.create(new InetSocketAddress(port), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(keys.context()));
    ExecutorService threads =
        Executors.newFixedThreadPool(
            THREADS,
            task -> {
              Thread thread = new Thread(task, "webhook");
              thread.setDaemon(true);
              return thread;
            });
    server.setExecutor(threads);
    Endpoint endpoint = new Endpoint(server, threads, reviews);
    for (AdmissionHook hook : hooks) {
      server.createContext("/" + hook.path(), exchange -> endpoint.answer(hook, exchange));
    }
    server.start();
    return endpoint;
  }

  int port() {
    return server.getAddress().getPort();
  }

  /**
   * Shakes hands with itself as the API server will: the first time takes seconds on a busy node,
   * longer than a webhook may.
   */
  void shakeHands(ServedKeys keys) throws IOException {
    try (SSLSocket socket = (SSLSocket) keys.trusting().getSocketFactory().createSocket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port()), HANDSHAKE_MILLISECONDS);
      socket.setSoTimeout(HANDSHAKE_MILLISECONDS);
      socket.startHandshake();
    }
  }

  private void answer(AdmissionHook hook, HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readNBytes(LARGEST + 1);
      if (body.length > LARGEST) {
        say(exchange, HttpURLConnection.HTTP_ENTITY_TOO_LARGE, "body: wanted less than 8 MiB");
        return;
      }
      AdmissionRequest request;
      try {
        request = reviews.read(body);
      } catch (IllegalArgumentException e) {
        say(exchange, HttpURLConnection.HTTP_BAD_REQUEST, String.valueOf(e.getMessage()));
        return;
      }
      try {
        byte[] answer = reviews.write(request, secondTry.review(hook, request));
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(HttpURLConnection.HTTP_OK, answer.length);
        exchange.getResponseBody().write(answer);
      } catch (RuntimeException e) {
        LOG.log(
            Level.ERROR,
            "webhook " + hook.path() + " for " + request.getNamespace() + "/" + request.getName(),
            e);
        say(exchange, HttpURLConnection.HTTP_INTERNAL_ERROR, "see the log of the operator");
      }
    }
  }

  private static void say(HttpExchange exchange, int code, String sentence) throws IOException {
    byte[] text = sentence.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(code, text.length);
    exchange.getResponseBody().write(text);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
