package dev.stasis.store;

import java.nio.file.Files;

/** The promises of a store whose data keys a KMS wraps. */
class KmsConformanceTest extends StoreConformance {
  private final FakeKms kms = new FakeKms();

  @Override
  protected BlobStore emptyStore() throws Exception {
    return new FolderBlobs(Files.createDirectory(temp.resolve("store")));
  }

  @Override
  protected StoreKeys keys() {
    return StoreKeys.of(kms);
  }
}
