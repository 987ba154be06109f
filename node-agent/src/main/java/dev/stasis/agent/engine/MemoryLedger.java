package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RecordFile;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Host memory reserved for running freezes and restores on this node, one file each below the state
 * folder. The kernel shows it as available until it has been used, which takes seconds, so that two
 * parallel operations would otherwise count the same bytes.
 */
final class MemoryLedger {

  /** The holder reads a few small files; a machine that takes longer is overloaded. */
  private static final Duration LOCK_LIMIT = Duration.ofSeconds(10);

  private static final String LOCK = "memory-ledger";

  /** Follows the container in the name of a reservation for criu's images. */
  private static final String IMAGES = ".images";

  private final Path folder;
  private final HostLocks locks;
  private final WorkJournal works;
  private final ProcFs proc;
  private final ObjectMapper json =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  MemoryLedger(Path stateDir, HostLocks locks, WorkJournal works, ProcFs proc) {
    this.folder = stateDir.resolve("promised");
    this.locks = locks;
    this.works = works;
    this.proc = proc;
  }

  /**
   * The unused reservation of one operation.
   *
   * @param number the order of the reservations
   * @param hostBytes memory of the node
   * @param stageBytes memory in the memory stage's file system; part of the former
   */
  record Promise(String bootId, ProcessId owner, long number, long hostBytes, long stageBytes) {}

  /** Checking the room and reserving it both happen under this lock. */
  HostLocks.Held open() throws StepFailure, InterruptedException {
    return locks
        .take(LOCK, LOCK_LIMIT)
        .orElseThrow(
            () ->
                new StepFailure(
                    Reason.NO_ROOM,
                    "ledger of reserved memory: expected its lock within %d s, got none"
                        .formatted(LOCK_LIMIT.toSeconds())));
  }

  /** Reserves memory for a container's operation, replacing an earlier reservation. */
  void promise(String container, long hostBytes, long stageBytes) throws StepFailure {
    try {
      Map<String, Promise> all = all();
      Promise own = all.get(container);
      long number =
          own != null
              ? own.number()
              : 1 + all.values().stream().mapToLong(Promise::number).max().orElse(0);
      ProcessId self = proc.id((int) ProcessHandle.current().pid()).orElseThrow();
      Files.createDirectories(folder);
      Promise made = new Promise(proc.bootId(), self, number, hostBytes, stageBytes);
      new RecordFile(folder.resolve(container)).write(json.writeValueAsBytes(made));
    } catch (IOException e) {
      throw new StepFailure(Reason.NO_ROOM, "ledger of reserved memory: " + e.getMessage(), e);
    }
  }

  /**
   * Reserves memory into which criu writes the images of a container, besides the reservation of
   * its operation. It is the last of all, so it was checked against all others.
   */
  void promiseImages(String container, long bytes) throws StepFailure {
    giveBackImages(container);
    promise(container + IMAGES, bytes, 0);
  }

  /** Removes that reservation: the images are written, or criu has ended. */
  void giveBackImages(String container) {
    giveBack(container + IMAGES);
  }

  /** Returns the memory of all reservations for criu's images. */
  long imageBytes() throws IOException {
    return all().entrySet().stream()
        .filter(each -> each.getKey().endsWith(IMAGES))
        .mapToLong(each -> each.getValue().hostBytes())
        .sum();
  }

  /** Removes reservations that do not count any more: their agent was killed. */
  void removeForgotten() throws StepFailure, InterruptedException, IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (HostLocks.Held held = open();
        DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        read(file).filter(promise -> !counts(name, promise)).ifPresent(old -> giveBack(name));
      }
    }
  }

  /** Returns the reservation of an operation, if there is one. */
  Optional<Promise> of(String container) {
    return read(folder.resolve(container));
  }

  /**
   * Returns the sum of reservations made before this one: later ones were admitted in addition to
   * it.
   */
  Promise others(String container) throws IOException {
    Map<String, Promise> all = all();
    Promise own = all.remove(container);
    all.values().removeIf(other -> own != null && other.number() > own.number());
    return sum(all.values());
  }

  /** Returns the sum of all reservations. */
  Promise total() throws IOException {
    return sum(all().values());
  }

  private static Promise sum(Collection<Promise> all) {
    return new Promise(
        "",
        new ProcessId(1, 0),
        0,
        all.stream().mapToLong(Promise::hostBytes).sum(),
        all.stream().mapToLong(Promise::stageBytes).sum());
  }

  /** Removes the reservation of an operation: it has been used, or is no longer needed. */
  void giveBack(String container) {
    try {
      Files.deleteIfExists(folder.resolve(container));
    } catch (IOException e) {
      System.getLogger(MemoryLedger.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "Cannot release the memory reserved for " + container,
              e);
    }
  }

  private Map<String, Promise> all() throws IOException {
    Map<String, Promise> all = new HashMap<>();
    if (!Files.isDirectory(folder)) {
      return all;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        String container = String.valueOf(file.getFileName());
        read(file)
            .filter(promise -> counts(container, promise))
            .ifPresent(promise -> all.put(container, promise));
      }
    }
    return all;
  }

  /** A driver worker outlives its agent, and uses memory until its operation has ended. */
  private boolean counts(String name, Promise promise) {
    String container =
        name.endsWith(IMAGES) ? name.substring(0, name.length() - IMAGES.length()) : name;
    return promise.bootId().equals(proc.bootId())
        && (proc.alive(promise.owner()) || works.read(container).isPresent());
  }

  private Optional<Promise> read(Path file) {
    if (!RecordFile.isWhole(file)) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(json.readValue(Files.readAllBytes(file), Promise.class));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      System.getLogger(MemoryLedger.class.getName())
          .log(System.Logger.Level.WARNING, "Cannot read a memory reservation", e);
      return Optional.empty();
    }
  }
}
