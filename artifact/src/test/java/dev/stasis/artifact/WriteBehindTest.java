package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WriteBehindTest {

  private static final int PIECE = 1 << 10;
  private static final long MOST = 8 * PIECE;
  private static final int THREADS = 8;

  @Test
  void theDiskIsWaitedForAfterEnoughBytes() throws IOException {
    Disk disk = new Disk();
    WriteBehind file = new WriteBehind(disk, MOST);
    for (int i = 0; i < 7; i++) {
      file.write(ByteBuffer.allocate(PIECE), (long) i * PIECE);
    }
    assertThat(disk.flushes.get()).isZero();

    for (int i = 7; i < 32; i++) {
      file.write(ByteBuffer.allocate(PIECE), (long) i * PIECE);
    }
    assertThat(disk.flushes.get()).isEqualTo(4);
    assertThat(disk.end.get()).isEqualTo(32 * PIECE);
  }

  @Test
  void writersWaitWhileTheDiskIsBusy() throws Exception {
    Disk disk = new Disk();
    disk.busy = new CountDownLatch(1);
    WriteBehind file = new WriteBehind(disk, MOST);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> writers = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        writers.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 64; i++) {
                    file.write(ByteBuffer.allocate(PIECE), 0);
                  }
                  return null;
                }));
      }
      disk.full.await(60, TimeUnit.SECONDS);
      // What is being flushed, what came meanwhile, and one piece of each thread that waits.
      assertThat(disk.written.get()).isBetween(2 * MOST, 2 * MOST + THREADS * PIECE);

      disk.busy.countDown();
      for (Future<?> writer : writers) {
        writer.get(60, TimeUnit.SECONDS);
      }
      assertThat(disk.mostUnwritten.get()).isLessThanOrEqualTo(2 * MOST + THREADS * PIECE);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aDiskThatFailsIsReported() {
    Disk disk = new Disk();
    disk.fails = true;
    WriteBehind file = new WriteBehind(disk, PIECE);

    assertThatThrownBy(() -> file.write(ByteBuffer.allocate(PIECE), 0))
        .isInstanceOf(IOException.class)
        .hasMessage("no space");
    disk.fails = false;

    assertThatThrownBy(() -> file.write(ByteBuffer.allocate(PIECE), PIECE))
        .as("the next flush would succeed without the lost bytes")
        .isInstanceOf(IOException.class)
        .hasMessage("no space");
  }

  /** Takes two bytes less than it is given, as a disk may, and counts. */
  private static final class Disk extends FileChannel {
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong flushed = new AtomicLong();
    private final AtomicLong mostUnwritten = new AtomicLong();
    private final AtomicLong flushes = new AtomicLong();
    private final AtomicLong end = new AtomicLong();
    private final CountDownLatch full = new CountDownLatch(1);
    private volatile CountDownLatch busy = new CountDownLatch(0);
    private volatile boolean fails;

    @Override
    public int write(ByteBuffer bytes, long position) {
      int count = Math.max(1, bytes.remaining() - 2);
      bytes.position(bytes.position() + count);
      end.accumulateAndGet(position + count, Math::max);
      long now = written.addAndGet(count);
      mostUnwritten.accumulateAndGet(now - flushed.get(), Math::max);
      if (now >= 2 * MOST) {
        full.countDown();
      }
      return count;
    }

    @Override
    public void force(boolean metaData) throws IOException {
      long before = written.get();
      flushes.incrementAndGet();
      if (fails) {
        throw new IOException("no space");
      }
      try {
        busy.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      flushed.accumulateAndGet(before, Math::max);
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
    public long size() {
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

    @Override
    protected void implCloseChannel() {}
  }
}
