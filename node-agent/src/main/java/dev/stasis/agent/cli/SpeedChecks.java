package dev.stasis.agent.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Measures, shortly and roughly, how quick memory and disk are. One thread: what a core gives. */
final class SpeedChecks {

  private static final int PIECE = 8 << 20;

  /** Enough to be beyond every cache, little enough to be over in a second. */
  private static final int PIECES = 32;

  private static final long BYTES = (long) PIECE * PIECES;

  /** Below these a freeze is no fun; both are a tenth of what a server does. */
  private static final double SLOW_COPY = 0.5;

  private static final double SLOW_DISK = 0.1;

  Finding memory(Path stage) throws IOException {
    Path folder = NodeChecks.existing(stage);
    String type = Files.getFileStore(folder).type();
    if (!type.equals("tmpfs")) {
      return Finding.note(
          "copy speed",
          stage + " is on " + type,
          "give a folder on a tmpfs of the host by --memory-stage");
    }
    return measure("copy speed", folder, false, SLOW_COPY);
  }

  Finding disk(Path store) throws IOException {
    return measure("disk speed", NodeChecks.existing(store), true, SLOW_DISK);
  }

  private static Finding measure(String name, Path folder, boolean sync, double slow)
      throws IOException {
    long free = Files.getFileStore(folder).getUsableSpace();
    if (free < 2 * BYTES) {
      return Finding.bad(
          name,
          "only " + new Bytes(free) + " free in " + folder,
          "make room: it takes the device memory of a workload");
    }
    byte[] piece = new byte[PIECE];
    new Random(1).nextBytes(piece);
    Path file = Files.createTempFile(folder, ".stasis-check-", ".bin");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE).put(piece);
      long begin = System.nanoTime();
      for (int i = 0; i < PIECES; i++) {
        buffer.rewind();
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
      }
      if (sync) {
        channel.force(true);
      }
      long nanos = Math.max(1, System.nanoTime() - begin);
      String found =
          "%s in %s, %d ms for %s%s"
              .formatted(
                  new Bytes(BYTES).perSecond(nanos),
                  folder,
                  TimeUnit.NANOSECONDS.toMillis(nanos),
                  new Bytes(BYTES),
                  ", " + new Bytes(free) + " free");
      return (double) BYTES / nanos < slow
          ? Finding.note(name, found, "slow: freezes take long here")
          : Finding.ok(name, found);
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
