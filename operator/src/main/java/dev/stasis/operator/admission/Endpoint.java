package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.KeyCertOptions;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLSocket;

/**
 * The HTTPS endpoint: one AdmissionReview in each direction. A connection uses no thread before it
 * has delivered a complete request for the path of a hook.
 */
final class Endpoint implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Endpoint.class.getName());

  /** The API server itself refuses larger objects; an update contains two. */
  private static final int LARGEST = 8 << 20;

  /** Each answer takes a few requests to the API server, milliseconds each. */
  private static final int THREADS = 8;

  /** It took 3 s on a node with ten times more work than cores. */
  private static final int HANDSHAKE_MILLISECONDS = 20_000;

  /** Go's HTTP client, and so the API server, keeps an idle connection for 90 s. */
  private static final int IDLE_SECONDS = 120;

  /** Binding a port takes milliseconds, also on a busy node. */
  private static final int LISTEN_SECONDS = 20;

  private final Vertx vertx;
  private final HttpServer server;
  private final ExecutorService threads;
  private final HookPaths paths;
  private final Reviews reviews;
  private final UnprovenConnections unproven;
  private final ClosedConnectionRetry secondTry = new ClosedConnectionRetry();

  private Endpoint(
      Vertx vertx, int port, ServingKeyManager keys, HookPaths paths, Reviews reviews) {
    this.vertx = vertx;
    this.paths = paths;
    this.reviews = reviews;
    this.unproven =
        new UnprovenConnections(
            vertx, UnprovenConnections.MOST, UnprovenConnections.LIMIT_MILLISECONDS);
    this.threads =
        Executors.newFixedThreadPool(
            THREADS,
            task -> {
              Thread thread = new Thread(task, "webhook");
              thread.setDaemon(true);
              return thread;
            });
    this.server =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setPort(port)
                    .setSsl(true)
                    .setUseAlpn(false)
                    .setKeyCertOptions(KeyCertOptions.wrap(keys))
                    .setSslHandshakeTimeout(HANDSHAKE_MILLISECONDS)
                    .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
                    .setIdleTimeout(IDLE_SECONDS))
            .connectionHandler(unproven::add)
            .requestHandler(this::receive);
  }

  static Endpoint open(int port, ServingKeyManager keys, HookPaths paths, Reviews reviews)
      throws IOException {
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                // The endpoint serves no files, and the root file system is read-only.
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)));
    Endpoint endpoint = new Endpoint(vertx, port, keys, paths, reviews);
    try {
      endpoint
          .server
          .listen()
          .toCompletionStage()
          .toCompletableFuture()
          .get(LISTEN_SECONDS, TimeUnit.SECONDS);
      return endpoint;
    } catch (ExecutionException | TimeoutException e) {
      endpoint.close();
      throw new IOException(e);
    } catch (InterruptedException e) {
      endpoint.close();
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  int port() {
    return server.actualPort();
  }

  /**
   * Performs a TLS handshake with itself: the first one takes seconds on a busy node, longer than a
   * webhook's timeout.
   */
  void shakeHands(ServingKeyManager keys) throws IOException {
    try (SSLSocket socket = (SSLSocket) keys.trusting().getSocketFactory().createSocket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port()), HANDSHAKE_MILLISECONDS);
      socket.setSoTimeout(HANDSHAKE_MILLISECONDS);
      socket.startHandshake();
    }
  }

  private void receive(HttpServerRequest request) {
    Optional<AdmissionHook> hook = paths.hook(String.valueOf(request.path()));
    if (hook.isEmpty() || !request.method().equals(HttpMethod.POST)) {
      refuse(request, HttpURLConnection.HTTP_NOT_FOUND, "not found");
      return;
    }
    Buffer body = Buffer.buffer();
    request.handler(
        part -> {
          if (body.length() + part.length() <= LARGEST) {
            body.appendBuffer(part);
          } else if (!request.response().ended()) {
            refuse(request, HttpURLConnection.HTTP_ENTITY_TOO_LARGE, "body: expected up to 8 MiB");
          }
        });
    request.endHandler(
        complete -> {
          if (!request.response().ended()) {
            unproven.remove(request.connection());
            threads.execute(() -> answer(hook.get(), request, body.getBytes()));
          }
        });
  }

  private void answer(AdmissionHook hook, HttpServerRequest exchange, byte[] body) {
    AdmissionRequest request;
    try {
      request = reviews.read(body);
    } catch (IllegalArgumentException e) {
      say(exchange, HttpURLConnection.HTTP_BAD_REQUEST, String.valueOf(e.getMessage()));
      return;
    }
    byte[] answer;
    try {
      answer = reviews.write(request, secondTry.review(hook, request));
    } catch (RuntimeException e) {
      LOG.log(
          Level.ERROR,
          "webhook " + hook.path() + " for " + request.getNamespace() + "/" + request.getName(),
          e);
      say(
          exchange,
          HttpURLConnection.HTTP_INTERNAL_ERROR,
          "internal error; see the log of the operator");
      return;
    }
    var unusedSent =
        exchange
            .response()
            .putHeader("Content-Type", "application/json")
            .end(Buffer.buffer(answer));
  }

  private static void say(HttpServerRequest request, int code, String sentence) {
    var unusedSent = request.response().setStatusCode(code).end(sentence);
  }

  private static void refuse(HttpServerRequest request, int code, String sentence) {
    var unusedSent =
        request
            .response()
            .setStatusCode(code)
            .end(sentence)
            .onComplete(sent -> request.connection().close());
  }

  @Override
  public void close() {
    var unusedClosed = vertx.close();
    threads.shutdownNow();
  }
}
