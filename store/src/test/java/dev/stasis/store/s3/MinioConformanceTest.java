package dev.stasis.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.store.BlobStore;
import dev.stasis.store.StoreConformance;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On MinIO, which implements conditional writes, too. */
@Tag("long")
class MinioConformanceTest extends StoreConformance {
  @TempDir static Path shared;

  private static @Nullable S3Server server;

  @BeforeAll
  static void startServer() throws Exception {
    Path minio = S3Server.find("minio", "STASIS_MINIO");
    assumeTrue(minio != null, "no minio: go install github.com/minio/minio@latest, on PATH");
    server = S3Server.minio(minio, shared.resolve("data"));
    Files.createDirectories(shared.resolve("data/bucket"));
  }

  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected BlobStore emptyStore() throws Exception {
    if (server == null) {
      throw new IllegalStateException("no server");
    }
    return S3Blobs.open(server.settings(UUID.randomUUID().toString(), S3Server.KEY, null));
  }

  @Test
  void aBlobThatExistsIsNotReplaced() throws Exception {
    try (BlobStore blobs = emptyStore()) {
      assertThat(blobs.putIfAbsent("a", new byte[] {1})).isTrue();
      assertThat(blobs.putIfAbsent("a", new byte[] {2})).isFalse();
      assertThat(blobs.get("a", 0, 1)).containsExactly(1);
    }
  }
}
