package dev.stasis.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.stasis.store.BlobUpload;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server that completes an upload and whose answer is lost, or that has lost the upload. */
class RepeatedCompletionTest {
  private static final byte[] FIRST = new byte[S3Blobs.LIMITS.partBytes()];
  private static final byte[] LAST = {1, 2, 3};
  private static final int SIZE = FIRST.length + LAST.length;

  private final HttpServer server;

  /** The answer to each completion but a lost one. */
  private String repeated = "400 InvalidPart";

  private boolean loses = true;
  private long storedSize = -1;
  private @Nullable String storedEtag;

  RepeatedCompletionTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @BeforeEach
  void start() {
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  /** Servers give an object that was joined from parts the MD5 of their MD5s, or another ETag. */
  @ParameterizedTest
  @CsvSource({
    "400 InvalidPart, of its parts",
    "400 InvalidPart, another",
    "404 NoSuchUpload, of its parts",
    "404 NoSuchUpload, another"
  })
  void anUploadThatTheServerHasCompletedHasSucceeded(String answer, String etag) throws Exception {
    repeated = answer;
    stored(SIZE, etag.equals("another") ? "0123456789abcdef0123456789abcdef" : etag(FIRST, LAST));

    commit();
  }

  @ParameterizedTest
  @CsvSource({
    "400 InvalidPart, true", "400 InvalidPart, false",
    "404 NoSuchUpload, true", "404 NoSuchUpload, false"
  })
  void anotherObjectOfThatNameIsNotTakenForIt(String answer, boolean ofThatSize) {
    repeated = answer;
    if (ofThatSize) {
      stored(SIZE, etag(LAST, FIRST));
    } else {
      stored(SIZE - 1, etag(FIRST, LAST));
    }

    assertThatThrownBy(this::commit).isInstanceOf(StoreException.class);
  }

  /** Its parts are not in memory any more. */
  @Test
  void anUploadWhosePartsTheServerHasDroppedIsRepeatedAsAWhole() {
    loses = false;

    assertThatThrownBy(this::commit)
        .isInstanceOfSatisfying(
            StoreException.WriteLost.class, failure -> assertThat(failure.isTransient()).isTrue());
  }

  private void commit() throws StoreException {
    try (S3Blobs blobs = S3Blobs.open(settings())) {
      uploaded(blobs).commit(2, SIZE);
    }
  }

  private static BlobUpload uploaded(S3Blobs blobs) throws StoreException {
    BlobUpload upload = blobs.upload("key");
    upload.part(0, ByteBuffer.wrap(FIRST));
    upload.part(1, ByteBuffer.wrap(LAST));
    return upload;
  }

  private void stored(long size, String etag) {
    storedSize = size;
    storedEtag = etag;
  }

  private S3Settings settings() {
    return new S3Settings(
        URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
        "us-east-1",
        true,
        "bucket",
        "",
        S3Server.KEY,
        null,
        new S3Settings.BucketDefault());
  }

  private static byte[] md5(byte[]... all) {
    try {
      MessageDigest digest = MessageDigest.getInstance("MD5");
      for (byte[] bytes : all) {
        digest.update(bytes);
      }
      return digest.digest();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private static String etag(byte[] first, byte[] second) {
    return HexFormat.of().formatHex(md5(md5(first), md5(second))) + "-2";
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String query = String.valueOf(exchange.getRequestURI().getQuery());
      switch (exchange.getRequestMethod()) {
        case "PUT" -> {
          exchange
              .getResponseHeaders()
              .set("ETag", '"' + HexFormat.of().formatHex(md5(body)) + '"');
          exchange.sendResponseHeaders(200, -1);
        }
        case "HEAD" -> {
          exchange.getResponseHeaders().set("ETag", '"' + storedEtag + '"');
          exchange.getResponseHeaders().set("Content-Length", "" + storedSize);
          exchange.sendResponseHeaders(storedSize < 0 ? 404 : 200, -1);
        }
        default -> {
          if (query.startsWith("uploads")) {
            text(exchange, 200, "<Result><UploadId>1</UploadId></Result>");
          } else if (loses) {
            loses = false; // The connection is closed without an answer.
          } else {
            String[] words = repeated.split(" ");
            text(exchange, Integer.parseInt(words[0]), error(words[1]));
          }
        }
      }
    }
  }

  private static String error(String code) {
    return "<Error><Code>%s</Code><Message>no</Message></Error>".formatted(code);
  }

  private static void text(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }
}
