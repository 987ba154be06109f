package dev.stasis.store;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Random;

/**
 * Measures how fast artifacts are stored in a folder and fetched from it: {@code StoreBenchmark
 * FOLDER MIB THREADS}. The folder should be in memory, so that the disk is not what is measured.
 */
final class StoreBenchmark {
  private StoreBenchmark() {}

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    int mib = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    for (boolean random : new boolean[] {true, false}) {
      Path data = Files.createTempDirectory(folder, "data");
      Path store = Files.createTempDirectory(folder, "store");
      Path fetched = Files.createTempDirectory(folder, "fetched");
      write(data.resolve("pages"), mib, random);
      try (RemoteArtifacts artifacts =
          new RemoteArtifacts(
              new FolderBlobs(store),
              StoreKeys.of("a", Map.of("a", SampleFolders.key(1))),
              Compression.ZSTD,
              Clock.systemUTC(),
              threads)) {
        ArtifactId id = new ArtifactId("ns", "first");
        long began = System.nanoTime();
        StoredArtifact stored = artifacts.store(id, data, Progress.NONE);
        report(random, "store", mib, began);
        began = System.nanoTime();
        artifacts.store(new ArtifactId("ns", "second"), data, Progress.NONE);
        report(random, "store again", mib, began);
        began = System.nanoTime();
        artifacts.fetch(id, null, fetched, Progress.NONE);
        report(random, "fetch", mib, began);
        System.out.printf("stored %d of %d bytes%n", stored.storedBytes(), stored.logicalBytes());
      }
      for (Path path : new Path[] {data, store, fetched}) {
        for (Path file : SampleFolders.everything(path)) {
          if (Files.isRegularFile(file)) {
            Files.delete(file);
          }
        }
      }
    }
    long peak = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      peak += pool.getType() == MemoryType.HEAP ? pool.getPeakUsage().getUsed() : 0;
    }
    System.out.printf("peak of the heap's pools: %d MiB%n", peak >> 20);
  }

  private static void write(Path file, int mib, boolean random) throws IOException {
    Random numbers = new Random(1);
    byte[] bytes = new byte[1 << 20];
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int i = 0; i < mib; i++) {
        numbers.nextBytes(bytes);
        if (!random) {
          // Half of each 64 bytes repeats: compresses to about a half.
          for (int at = 0; at < bytes.length; at += 64) {
            System.arraycopy(bytes, 0, bytes, at, 32);
          }
        }
        out.write(bytes);
      }
    }
  }

  private static void report(boolean random, String what, int mib, long began) {
    double seconds = (System.nanoTime() - began) / 1e9;
    System.out.printf(
        "%s, %s: %.0f MiB/s%n", random ? "random" : "half compressible", what, mib / seconds);
  }
}
