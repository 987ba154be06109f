package dev.stasis.agent.daemon.selftest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Writes a file to a store, as safely as an artifact, and reads it back. */
final class DiskTrial {

  private static final int PIECE = 8 << 20;

  /** 128 MiB: beyond a disk's own cache of some ten, and over in a second or two. */
  private static final int PIECES = 16;

  private static final long BYTES = (long) PIECE * PIECES;

  private final LongSupplier nanoTime;

  DiskTrial(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Bytes a second. Reading comes from the page cache where nothing else took its place. */
  record Speeds(long write, long read) {}

  /** In a folder that is made, for root alone, when it is not there. */
  Speeds run(Path folder) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    long free = Files.getFileStore(folder).getUsableSpace();
    if (free < 2 * BYTES) {
      throw new IOException("wanted %d bytes free, found %d".formatted(2 * BYTES, free));
    }
    byte[] piece = new byte[PIECE];
    new Random(1).nextBytes(piece);
    ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE).put(piece);
    Path file = Files.createTempFile(folder, ".stasis-trial-", ".tmp");
    try {
      long begun = nanoTime.getAsLong();
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        for (int i = 0; i < PIECES; i++) {
          buffer.rewind();
          while (buffer.hasRemaining()) {
            channel.write(buffer);
          }
        }
        channel.force(true);
      }
      long written = nanoTime.getAsLong();
      long read = 0;
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        buffer.clear();
        for (int n = channel.read(buffer); n >= 0; n = channel.read(buffer.clear())) {
          read += n;
        }
      }
      if (read != BYTES) {
        throw new IOException("wanted %d bytes back, found %d".formatted(BYTES, read));
      }
      return new Speeds(perSecond(written - begun), perSecond(nanoTime.getAsLong() - written));
    } finally {
      Files.deleteIfExists(file);
    }
  }

  private static long perSecond(long nanos) {
    return (long) ((double) BYTES * TimeUnit.SECONDS.toNanos(1) / Math.max(1, nanos));
  }
}
