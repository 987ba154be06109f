package dev.stasis.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.store.BlobStore;
import dev.stasis.store.StoreConformance;
import dev.stasis.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On rclone, which serves a folder by the protocol of S3. */
class S3ConformanceTest extends StoreConformance {
  @TempDir static Path shared;

  private static @Nullable S3Server server;

  @BeforeAll
  static void startServer() throws Exception {
    Path rclone = S3Server.find("rclone", "STASIS_RCLONE");
    assumeTrue(rclone != null, "no rclone: run bin/setup");
    server = S3Server.rclone(rclone, shared.resolve("data"), null, null);
  }

  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  static S3Server server() {
    if (server == null) {
      throw new IllegalStateException("no server");
    }
    return server;
  }

  @Override
  protected BlobStore emptyStore() throws Exception {
    return S3Blobs.open(server().settings(UUID.randomUUID().toString(), S3Server.KEY, null));
  }

  private static void assertRefused(S3Settings settings, Class<? extends StoreException> cause)
      throws Exception {
    try (S3Blobs blobs = S3Blobs.open(settings)) {
      assertThatThrownBy(() -> blobs.put("a", new byte[1])).isInstanceOf(cause);
      assertThatThrownBy(() -> blobs.get("a", 0, 1)).isInstanceOf(cause);
      assertThatThrownBy(() -> blobs.stat("a")).isInstanceOf(cause);
      assertThatThrownBy(() -> blobs.list("")).isInstanceOf(cause);
    }
  }

  @Test
  void wrongCredentialsAreReportedAsSuch() throws Exception {
    assertRefused(
        server().settings("p", new S3Settings.StaticKey("stasisaccess", "another-key", null), null),
        StoreException.WrongCredentials.class);
    assertRefused(
        server().settings("p", new S3Settings.StaticKey("unknown", "another-key", null), null),
        StoreException.WrongCredentials.class);
  }

  @Test
  void aBucketThatDoesNotExistIsNotFound() throws Exception {
    assertRefused(
        server().settings("missing", "p", S3Server.KEY, null), StoreException.NotFound.class);
  }

  @Test
  void aServerThatIsGoneIsUnreachable() throws Exception {
    S3Settings settings;
    try (S3Server gone =
        S3Server.rclone(
            Objects.requireNonNull(S3Server.find("rclone", "STASIS_RCLONE")),
            temp.resolve("gone"),
            null,
            null)) {
      settings = gone.settings("p", S3Server.KEY, null);
    }
    try (S3Blobs blobs = S3Blobs.open(settings)) {
      assertThatThrownBy(() -> blobs.list("")).isInstanceOf(StoreException.Unreachable.class);
    }
  }

  @Test
  void unfinishedUploadsAreRemoved() throws Exception {
    try (S3Blobs blobs = S3Blobs.open(server().settings("unfinished", S3Server.KEY, null))) {
      blobs.upload("a").part(0, ByteBuffer.allocate(8 << 20));

      assertThat(blobs.deleteUnfinished(Instant.EPOCH)).isZero();
      assertThat(blobs.deleteUnfinished(Instant.now().plusSeconds(3600))).isEqualTo(1);
      assertThat(blobs.deleteUnfinished(Instant.now().plusSeconds(3600))).isZero();
    }
  }

  @Test
  void onlyTheCaOfTheSettingsIsTrusted() throws Exception {
    Path certificate = selfSigned("server");
    Path other = selfSigned("other");
    try (S3Server tls =
        S3Server.rclone(
            Objects.requireNonNull(S3Server.find("rclone", "STASIS_RCLONE")),
            temp.resolve("tls"),
            certificate,
            temp.resolve("server.key"))) {
      try (S3Blobs blobs =
          S3Blobs.open(tls.settings("p", S3Server.KEY, Files.readString(certificate)))) {
        blobs.put("a", new byte[] {1, 2, 3});
        assertThat(blobs.get("a", 1, 2)).containsExactly(2, 3);
      }
      assertRefused(
          tls.settings("p", S3Server.KEY, Files.readString(other)), StoreException.Refused.class);
      assertRefused(tls.settings("p", S3Server.KEY, null), StoreException.Refused.class);
    }
  }

  private Path selfSigned(String name) throws Exception {
    Path certificate = temp.resolve(name + ".pem");
    Process openssl =
        new ProcessBuilder(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=" + name,
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                temp.resolve(name + ".key").toString(),
                "-out",
                certificate.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(openssl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(openssl.waitFor()).as(output).isZero();
    return certificate;
  }
}
