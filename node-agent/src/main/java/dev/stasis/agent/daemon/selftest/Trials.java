package dev.stasis.agent.daemon.selftest;

import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.api.v1alpha1.node.SelfTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** All trials, one after the other. */
public final class Trials {

  /** The worker starts a JVM at its first call: a second, some on a loaded machine. */
  private static final Duration PING = Duration.ofSeconds(30);

  private final DriverWorker worker;
  private final Path memoryStage;
  private final MoverTrial mover;
  private final DiskTrial disk;
  private final Clock clock;

  /**
   * On this node.
   *
   * @param worker the driver's worker
   * @param runtime the program stasis-runtime
   * @param memoryStage where device memory is staged
   * @param threads copying threads
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
   * Tries everything; what does not work is said, and keeps nothing else from being tried.
   *
   * @param store the root of a store on this node's disk, where there is one
   */
  public SelfTest run(Optional<Path> store) throws InterruptedException {
    SelfTest test = new SelfTest();
    List<String> faults = new ArrayList<>();
    DriverAnswer<Boolean> ping = worker.ping(PING);
    if (!(ping instanceof DriverAnswer.Done<Boolean>)) {
      faults.add("driver worker: wanted an answer, found " + ping.describe());
    }
    try {
      MoverTrial.Speeds speeds = inFolderOfItsOwn();
      test.setMoveOutBytesPerSecond(speeds.out());
      test.setMoveInBytesPerSecond(speeds.in());
    } catch (IOException e) {
      faults.add("mover: " + e.getMessage());
    }
    if (store.isPresent()) {
      try {
        DiskTrial.Speeds speeds = disk.run(store.get());
        test.setWriteBytesPerSecond(speeds.write());
        test.setReadBytesPerSecond(speeds.read());
      } catch (IOException e) {
        faults.add("store " + store.get() + ": " + e.getMessage());
      }
    }
    test.setTime(clock.instant());
    test.setPassed(faults.isEmpty());
    test.setMessage(faults.isEmpty() ? null : String.join("; ", faults));
    return test;
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
}
