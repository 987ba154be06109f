package dev.stasis.agent.daemon.selftest;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1beta1.node.SelfTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** All tests, in sequence. */
public final class Trials {

  /** The worker starts a JVM for its first call: a second, a few on a loaded machine. */
  private static final Duration PING = Duration.ofSeconds(30);

  private final DriverWorker worker;
  private final Path memoryStage;
  private final MoverTrial mover;
  private final DiskTrial disk;
  private final Clock clock;

  /**
   * For this node.
   *
   * @param worker the driver worker
   * @param runtime the program stasis-runtime
   * @param memoryStage the stage for device memory
   * @param threads number of copying threads
   */
  public Trials(
      DriverWorker worker,
      Path runtime,
      Path memoryStage,
      int threads,
      Clock clock,
      LongSupplier nanoTime) {
    this.worker = worker;
    this.memoryStage = memoryStage;
    this.mover = new MoverTrial(runtime, new ProcFs(), threads, nanoTime);
    this.disk = new DiskTrial(nanoTime);
    this.clock = clock;
  }

  /**
   * Runs all tests; a failure is reported and does not prevent the others.
   *
   * @param store the root of a store on this node's disk, if there is one
   */
  public SelfTest run(Optional<Path> store) throws InterruptedException {
    List<String> faults = new ArrayList<>();
    DriverAnswer<Boolean> ping = worker.ping(PING);
    if (!(ping instanceof DriverAnswer.Done<Boolean>)) {
      faults.add("driver worker: expected an answer, got " + ping.describe());
    }
    Optional<MoverTrial.Speeds> moved = Optional.empty();
    try {
      moved = Optional.of(inFolderOfItsOwn());
    } catch (IOException e) {
      faults.add("mover: " + e.getMessage());
    }
    Optional<DiskTrial.Speeds> stored = Optional.empty();
    if (store.isPresent()) {
      try {
        stored = Optional.of(disk.run(store.get()));
      } catch (IOException e) {
        faults.add("store " + store.get() + ": " + e.getMessage());
      }
    }
    return new SelfTest(
        clock.instant(),
        faults.isEmpty(),
        faults.isEmpty() ? null : String.join("; ", faults),
        null,
        null,
        moved.map(MoverTrial.Speeds::out).orElse(null),
        moved.map(MoverTrial.Speeds::in).orElse(null),
        stored.map(DiskTrial.Speeds::write).orElse(null),
        stored.map(DiskTrial.Speeds::read).orElse(null));
  }

  private MoverTrial.Speeds inFolderOfItsOwn() throws IOException, InterruptedException {
    Files.createDirectories(
        memoryStage,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path folder = Files.createTempDirectory(memoryStage, ".trial-");
    try {
      return mover.run(folder);
    } finally {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /** Writes a file to a store with the same syncs as an artifact, and reads it back. */
  static final class DiskTrial {

    private static final int PIECE = 8 << 20;

    /** 128 MiB: larger than a disk's own cache of about ten, and finished in a second or two. */
    private static final int PIECES = 16;

    private static final long BYTES = (long) PIECE * PIECES;

    private final LongSupplier nanoTime;

    DiskTrial(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    /** Bytes per second. The read comes from the page cache unless that was evicted. */
    record Speeds(long write, long read) {}

    /** In a folder that only root can access; created if missing. */
    Speeds run(Path folder) throws IOException {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      long free = Files.getFileStore(folder).getUsableSpace();
      if (free < 2 * BYTES) {
        throw new IOException("expected %d bytes free, got %d".formatted(2 * BYTES, free));
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
          throw new IOException("expected to read %d bytes, got %d".formatted(BYTES, read));
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
}
