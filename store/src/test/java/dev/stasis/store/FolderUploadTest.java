package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.artifact.WriteBehind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderUploadTest {
  private static final String KEY = "a.pack";
  private static final int PART = FolderBlobs.LIMITS.partBytes();

  /** The last one of so many is written with a sync of the file. */
  private static final int PARTS = (int) (WriteBehind.USUAL / PART);

  @TempDir Path temp;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Path temporary;

  @SuppressWarnings("NullAway.Init") // made before each test
  private FailingDisk disk;

  @SuppressWarnings("NullAway.Init") // made before each test
  private FolderUpload upload;

  @BeforeEach
  void createUpload() throws IOException {
    temporary = temp.resolve("temporary");
    disk =
        new FailingDisk(
            FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    upload = new FolderUpload(new FolderBlobs(temp), KEY, temporary, temp.resolve(KEY), disk);
  }

  private void write(int number) throws StoreException {
    upload.part(number, ByteBuffer.wrap(new byte[PART]));
  }

  private void assertNotPublished() throws IOException {
    upload.abort();
    assertThat(temp).isEmptyDirectory();
  }

  @Test
  void aBlobIsNotPublishedAfterAFailedSync() throws IOException {
    write(0);
    disk.fails = true;
    assertThatThrownBy(() -> upload.commit(1, PART)).hasMessageContaining("Input/output error");

    assertThatThrownBy(() -> upload.commit(1, PART))
        .isInstanceOf(StoreException.WriteLost.class)
        .hasMessageContaining("Input/output error");
    assertNotPublished();
  }

  @Test
  void aBlobIsNotPublishedAfterAFailedSyncOfAPart() throws IOException {
    int last = PARTS - 1;
    for (int i = 0; i < last; i++) {
      write(i);
    }
    disk.fails = true;
    assertThatThrownBy(() -> write(last)).hasMessageContaining("Input/output error");

    assertThatThrownBy(() -> write(last)).isInstanceOf(StoreException.WriteLost.class);
    assertThatThrownBy(() -> upload.commit(PARTS, (long) PARTS * PART))
        .isInstanceOf(StoreException.WriteLost.class);
    assertNotPublished();
  }

  @Test
  void bytesThatAreLostAreNotWaitedFor() {
    AtomicInteger calls = new AtomicInteger();
    FaultyBlobs losing = new FaultyBlobs(new FolderBlobs(temp));
    losing.fault(
        (call, key, done) -> {
          calls.incrementAndGet();
          throw new StoreException.WriteLost("lost", null);
        });
    BlobStore blobs = new RetryingBlobs(losing, Duration.ofMinutes(1), System::nanoTime);

    assertThatThrownBy(() -> blobs.put("a", new byte[1]))
        .isInstanceOfSatisfying(
            StoreException.WriteLost.class, e -> assertThat(e.isTransient()).isTrue());
    assertThat(calls).hasValue(1);
  }

  @Test
  void aBlobIsPublishedOnceEveryByteIsOnDisk() throws IOException {
    for (int i = 0; i < PARTS; i++) {
      write(i);
    }
    upload.commit(PARTS, (long) PARTS * PART);

    assertThat(temp.resolve(KEY)).hasSize((long) PARTS * PART);
    assertThat(temporary).doesNotExist();
  }

  /** A file whose sync fails once, as Linux reports a write error. */
  private static final class FailingDisk extends FileChannel {
    private final FileChannel file;
    private boolean fails;

    FailingDisk(FileChannel file) {
      this.file = file;
    }

    @Override
    public int write(ByteBuffer bytes, long position) throws IOException {
      return file.write(bytes, position);
    }

    @Override
    public void force(boolean metaData) throws IOException {
      if (fails) {
        fails = false;
        throw new IOException("Input/output error");
      }
      file.force(metaData);
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    protected void implCloseChannel() throws IOException {
      file.close();
    }

    @Override
    public int read(ByteBuffer to) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long next) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel truncate(long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long position, long count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer to, long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }
  }
}
