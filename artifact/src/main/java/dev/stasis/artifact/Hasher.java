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

/** Digests of files and of pieces of files, and a count of what went through. */
final class Hasher {
  private static final int BUFFER = 1 << 20;

  private final Progress progress;
  private final long total;
  private final AtomicLong done = new AtomicLong();

  Hasher(Progress progress, long total) {
    this.progress = progress;
    this.total = total;
  }

  /** Both digests of the same bytes. */
  record Digests(int crc32c, String sha256) {}

  static FileChannel openForReading(Path file) throws IOException {
    return FileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(sha256Digest().digest(bytes));
  }

  FileFacts file(Path file) throws IOException {
    try (FileChannel channel = openForReading(file)) {
      long size = channel.size();
      return new FileFacts(size, piece(channel, 0, size, null, 0).sha256());
    }
  }

  /**
   * Reads a piece, and copies it where a copy is wanted.
   *
   * @throws EOFException when the file ends before the piece does
   */
  Digests piece(FileChannel from, long offset, long length, @Nullable FileChannel to, long toOffset)
      throws IOException {
    MessageDigest sha256 = sha256Digest();
    CRC32C crc = new CRC32C();
    byte[] bytes = new byte[(int) Math.min(BUFFER, Math.max(1, length))];
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    for (long at = 0; at < length; ) {
      buffer.clear().limit((int) Math.min(bytes.length, length - at));
      int count = from.read(buffer, offset + at);
      if (count < 0) {
        throw new EOFException(
            "wanted %d bytes at %d, found the file's end after %d".formatted(length, offset, at));
      }
      sha256.update(bytes, 0, count);
      crc.update(bytes, 0, count);
      if (to != null) {
        buffer.flip();
        for (long written = toOffset + at; buffer.hasRemaining(); ) {
          written += to.write(buffer, written);
        }
      }
      at += count;
      progress.at(done.addAndGet(count), total);
    }
    return new Digests((int) crc.getValue(), HexFormat.of().formatHex(sha256.digest()));
  }

  private static MessageDigest sha256Digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}
