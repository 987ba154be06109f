package dev.stasis.store.s3;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server that sends a byte now and then. */
class SlowBodyTest {
  /** With a byte every 50 ms, this takes 50 s. */
  private static final int LENGTH = 1000;

  @Test
  void aBodyThatArrivesTooSlowlyIsGivenUp() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    ExecutorService handlers = Executors.newCachedThreadPool();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(handlers);
    server.createContext("/", exchange -> answer(exchange, ended));
    server.start();
    S3Settings settings =
        new S3Settings(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
            "us-east-1",
            true,
            "bucket",
            "",
            S3Server.KEY,
            null,
            new S3Settings.BucketDefault());
    try (S3Blobs blobs = S3Blobs.open(settings, Duration.ofMillis(500))) {
      byte[] bytes = new byte[LENGTH];

      assertThatThrownBy(() -> blobs.read("key", 0, bytes, LENGTH))
          .isInstanceOf(StoreException.Unreachable.class)
          .hasMessageContaining("expected 1000 bytes at 0 within 500 ms");
    } finally {
      ended.countDown();
      server.stop(0);
      handlers.shutdownNow();
    }
  }

  private static void answer(HttpExchange exchange, CountDownLatch ended) throws IOException {
    exchange.sendResponseHeaders(206, LENGTH);
    try (OutputStream body = exchange.getResponseBody()) {
      for (int i = 0; i < LENGTH && !ended.await(50, TimeUnit.MILLISECONDS); i++) {
        body.write(1);
        body.flush();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      exchange.close();
    }
  }
}
