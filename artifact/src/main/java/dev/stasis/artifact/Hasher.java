package dev.stasis.artifact;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Computes digests of files and of parts of files, and reports progress. */
final class Hasher {
  /**
   * Bytes that each thread reads at a time. Java keeps a buffer of the same size outside the heap
   * for each thread that reads a file, until that thread ends.
   */
  static final int BUFFER = 1 << 18;

  private final ThreadLocal<byte[]> buffers = ThreadLocal.withInitial(() -> new byte[BUFFER]);
  private final Progress progress;
  private final long total;
  private final AtomicLong done = new AtomicLong();

  Hasher(Progress progress, long total) {
    this.progress = progress;
    this.total = total;
  }

  /** Both digests of the same bytes; for a chunk, the second is of the requested kind. */
  record Digests(int crc32c, String sha256) {}

  /** The second digest during computation. */
  private interface Sum {
    void update(byte[] bytes, int offset, int count);

    String text();
  }

  static FileChannel openForReading(Path file) throws IOException {
    return FileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(sha256Digest().digest(bytes));
  }

  /** Returns the SHA-256 of a part of a file. */
  byte[] plain(FileChannel from, long offset, long length) throws IOException {
    return HexFormat.of().parseHex(piece(from, offset, length, null, plain()).sha256());
  }

  /**
   * Reads a chunk, and copies it to the same offset if a copy is requested. The computed digest is
   * of the same kind as the chunk's own, so that the two can be compared; otherwise of {@link
   * InterleavedSha256}.
   *
   * @throws EOFException if the file ends before the chunk does
   */
  Digests chunk(Chunk chunk, FileChannel from, @Nullable WriteBehind to) throws IOException {
    String has = chunk.sha256();
    Sum sum = has == null || has.startsWith(InterleavedSha256.PREFIX) ? lanes() : plain();
    return piece(from, chunk.offset(), chunk.length(), to, sum);
  }

  private Digests piece(
      FileChannel from, long offset, long length, @Nullable WriteBehind to, Sum sum)
      throws IOException {
    CRC32C crc = new CRC32C();
    byte[] bytes = buffers.get();
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    for (long at = 0; at < length; ) {
      buffer.clear().limit((int) Math.min(bytes.length, length - at));
      int count = from.read(buffer, offset + at);
      if (count < 0) {
        throw new EOFException(
            "expected %d bytes at %d, got the end of the file after %d"
                .formatted(length, offset, at));
      }
      sum.update(bytes, 0, count);
      crc.update(bytes, 0, count);
      if (to != null) {
        to.write(buffer.flip(), offset + at);
      }
      at += count;
      progress.at(done.addAndGet(count), total);
    }
    return new Digests((int) crc.getValue(), sum.text());
  }

  private static Sum plain() {
    MessageDigest sha256 = sha256Digest();
    return new Sum() {
      @Override
      public void update(byte[] bytes, int offset, int count) {
        sha256.update(bytes, offset, count);
      }

      @Override
      public String text() {
        return HexFormat.of().formatHex(sha256.digest());
      }
    };
  }

  private static Sum lanes() {
    InterleavedSha256 digest = new InterleavedSha256(Hasher::sha256Digest);
    return new Sum() {
      @Override
      public void update(byte[] bytes, int offset, int count) {
        digest.update(bytes, offset, count);
      }

      @Override
      public String text() {
        return digest.text();
      }
    };
  }

  static MessageDigest sha256Digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("SHA-256 is part of every Java platform", e);
    }
  }
}
