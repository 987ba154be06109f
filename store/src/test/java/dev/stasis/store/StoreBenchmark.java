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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Measures how fast artifacts are stored in a folder and fetched from it: {@code StoreBenchmark
 * FOLDER MIB THREADS [COMPRESSION]}. The folder should be in memory, so that the disk is not what
 * is measured. In the first of the three rounds, code is still being compiled.
 */
final class StoreBenchmark {
  private static final int ROUNDS = 3;

  private StoreBenchmark() {}

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    int mib = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    Compression compression = args.length > 3 ? Compression.valueOf(args[3]) : Compression.ZSTD;
    System.out.printf(
        "Java %s, %d processors, %d threads, %s, encrypted, MiB/s:%n",
        System.getProperty("java.version"),
        Runtime.getRuntime().availableProcessors(),
        threads,
        compression);
    for (boolean random : new boolean[] {true, false}) {
      Path data = Files.createTempDirectory(folder, "data");
      try {
        write(data.resolve("pages"), mib, random);
        for (int round = 1; round <= ROUNDS; round++) {
          System.out.printf(
              "%s, round %d: ", random ? "random data" : "half compressible data", round);
          round(folder, data, mib, threads, compression);
        }
      } finally {
        delete(data);
      }
    }
    long peak = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      peak += pool.getType() == MemoryType.HEAP ? pool.getPeakUsage().getUsed() : 0;
    }
    System.out.printf("peak of the heap's pools: %d MiB%n", peak >> 20);
  }

  private static void round(Path folder, Path data, int mib, int threads, Compression compression)
      throws IOException {
    Path store = Files.createTempDirectory(folder, "store");
    Path fetched = Files.createTempDirectory(folder, "fetched");
    byte[] key = new byte[32];
    new Random(1).nextBytes(key);
    try (RemoteArtifacts artifacts =
        new RemoteArtifacts(
            new FolderBlobs(store),
            StoreKeys.of("a", Map.of("a", key)),
            compression,
            Clock.systemUTC(),
            threads)) {
      ArtifactId id = new ArtifactId("ns", "first");
      long began = System.nanoTime();
      StoredArtifact stored = artifacts.store(id, data, Progress.NONE);
      report("store", mib, began);
      began = System.nanoTime();
      artifacts.store(new ArtifactId("ns", "second"), data, Progress.NONE);
      report("store again", mib, began);
      began = System.nanoTime();
      artifacts.fetch(id, null, fetched, Progress.NONE);
      report("fetch", mib, began);
      System.out.printf(
          "stored %d of %d MiB%n", stored.storedBytes() >> 20, stored.logicalBytes() >> 20);
    } finally {
      delete(store);
      delete(fetched);
    }
  }

  private static void write(Path file, int mib, boolean random) throws IOException {
    SplittableRandom numbers = new SplittableRandom(1);
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

  private static void report(String what, int mib, long began) {
    System.out.printf("%s %.0f, ", what, mib / ((System.nanoTime() - began) / 1e9));
  }

  private static void delete(Path folder) throws IOException {
    List<Path> entries;
    try (Stream<Path> walked = Files.walk(folder)) {
      entries = walked.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path entry : entries) {
      Files.delete(entry);
    }
  }
}
