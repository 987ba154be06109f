package dev.stasis.store;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Every call is one of another node than the one before. */
@EnabledIfEnvironmentVariable(
    named = NfsLab.SERVER,
    matches = ".+",
    disabledReason = NfsLab.WHY_NOT)
class NfsConformanceTest extends StoreConformance {

  private final NfsLab nfs = new NfsLab();

  @Override
  protected BlobStore emptyStore() throws Exception {
    String export = nfs.export("conformance", 200, NfsLab.RIGHTS);
    return new AlternatingBlobs(
        new FolderBlobs(nfs.mount(1, export, NfsLab.HARD)),
        new FolderBlobs(nfs.mount(2, export, NfsLab.HARD)));
  }

  @AfterEach
  void unmount() throws Exception {
    nfs.close();
  }

  private static final class AlternatingBlobs implements BlobStore {
    private final List<BlobStore> nodes;
    private final AtomicInteger calls = new AtomicInteger();

    AlternatingBlobs(BlobStore... nodes) {
      this.nodes = List.of(nodes);
    }

    private BlobStore next() {
      return nodes.get(Math.floorMod(calls.getAndIncrement(), nodes.size()));
    }

    @Override
    public Blob stat(String key) throws StoreException {
      return next().stat(key);
    }

    @Override
    public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
      next().read(key, offset, bytes, length);
    }

    @Override
    public boolean putIfAbsent(String key, byte[] bytes) throws StoreException {
      return next().putIfAbsent(key, bytes);
    }

    @Override
    public void put(String key, byte[] bytes) throws StoreException {
      next().put(key, bytes);
    }

    @Override
    public UploadLimits uploadLimits() {
      return next().uploadLimits();
    }

    @Override
    public BlobUpload upload(String key) throws StoreException {
      return next().upload(key);
    }

    @Override
    public List<Blob> list(String prefix) throws StoreException {
      return next().list(prefix);
    }

    @Override
    public void delete(String key) throws StoreException {
      next().delete(key);
    }

    @Override
    public int deleteUnfinished(Instant before) throws StoreException {
      return next().deleteUnfinished(before);
    }

    @Override
    public void close() {
      nodes.forEach(BlobStore::close);
    }
  }
}
