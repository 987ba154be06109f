package dev.stasis.store.s3;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.stasis.store.BlobUpload;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The bodies that are sent to a server. */
class UploadedBodyTest {
  private static final int PART = S3Blobs.LIMITS.partBytes();

  /** What the client of a bucket sent: for each request with a body its length and encoding. */
  private final List<String> bodies = new CopyOnWriteArrayList<>();

  @Test
  void bodiesAreSignedAsAWholeAndNotInPieces() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
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
    try (S3Blobs blobs = S3Blobs.open(settings)) {
      BlobUpload upload = blobs.upload("key");
      upload.part(0, ByteBuffer.wrap(new byte[PART]));
      blobs.put("small", new byte[5]);
    } finally {
      server.stop(0);
    }

    assertThat(bodies).containsExactly(PART + " null", "5 null");
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      int length = exchange.getRequestBody().readAllBytes().length;
      if (exchange.getRequestMethod().equals("PUT")) {
        bodies.add(length + " " + exchange.getRequestHeaders().getFirst("Content-Encoding"));
      }
      byte[] begun = "<Result><UploadId>1</UploadId></Result>".getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, begun.length);
      exchange.getResponseBody().write(begun);
    }
  }
}
