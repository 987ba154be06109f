package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.process.RecordFile;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The journal of active operations: one file each, written before the step that it describes. */
final class OperationJournal {

  private static final System.Logger LOG = System.getLogger(OperationJournal.class.getName());
  private static final String SUFFIX = ".json";

  private final Path folder;
  private final OperationJson json = new OperationJson();

  /**
   * Opens the journal of a node, and creates its folder.
   *
   * @param stateDir the node's state folder
   */
  OperationJournal(Path stateDir) {
    this.folder = stateDir.resolve("operations");
    try {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make the folder " + folder, e);
    }
  }

  /**
   * An active operation on disk: enough for another agent to continue it.
   *
   * @param format the journal's version
   * @param bootId the boot in which it was claimed; in another boot its processes are gone
   * @param name the operation's name
   * @param uid its uid
   * @param created creation time; determines the order of the queue
   * @param claimed time of the claim; the deadline counts from it
   * @param spec its spec
   * @param stage its progress
   * @param status its status, possibly not yet written
   */
  record Entry(
      int format,
      String bootId,
      String name,
      String uid,
      Instant created,
      Instant claimed,
      GpuNodeOperationSpec spec,
      Stage stage,
      @Nullable GpuNodeOperationStatus status) {

    /** The version that this agent writes. */
    static final int FORMAT = 1;

    /** Its progress. */
    enum Stage {
      /** Not started. Next: BEGUN, ENDED. */
      CLAIMED,
      /** The engine executes it, and its own journal has the details. Next: HELD, ENDED. */
      BEGUN,
      /** Published and frozen, until a decision. Next: ENDED. */
      HELD,
      /**
       * Finished; the API server has not stored that yet, or a workload that was left frozen is
       * being thawed again. Next: the entry is deleted.
       */
      ENDED
    }

    Entry at(Stage next, GpuNodeOperationStatus said) {
      return new Entry(format, bootId, name, uid, created, claimed, spec, next, said);
    }

    /** Returns whether it is finished and has left its workload frozen. */
    boolean leftFrozen() {
      return stage == Stage.ENDED && status != null && leftFrozen(spec, status);
    }

    /**
     * The same for an operation in the API server. A successful suspend is intended, and a held
     * operation is not finished; a freeze by a user without an operation has no entry at all.
     */
    static boolean leftFrozen(GpuNodeOperationSpec spec, GpuNodeOperationStatus status) {
      return spec.getFreeze() != null
          && status.getPhase() == OperationPhase.FAILED
          && status.getOutcome() == Outcome.NOT_UNDONE
          && (status.getWorkload() == WorkloadState.FROZEN
              || status.getWorkload() == WorkloadState.UNKNOWN);
    }
  }

  /** Writes the current state. */
  synchronized void write(Entry entry) {
    try {
      new RecordFile(file(entry.name())).writeSynced(json.bytes(entry));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the journal of " + entry.name(), e);
    }
  }

  /** Returns every entry, in the order of the operations' creation. */
  synchronized List<Entry> all() {
    List<Entry> entries = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path file : files) {
        readFile(file).ifPresent(entries::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the folder " + folder, e);
    }
    entries.sort(Comparator.comparing(Entry::created).thenComparing(Entry::name));
    return entries;
  }

  /** Deletes the entry of an operation once its end is stored in the API server. */
  synchronized void remove(String name) {
    try {
      Files.deleteIfExists(file(name));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot remove the journal of " + name, e);
    }
  }

  private Path file(String name) {
    return folder.resolve(name + SUFFIX);
  }

  /**
   * Reads an entry. An unreadable one, or one with a newer format, is skipped: its operation is
   * then recovered from the API server and the engine's own journal.
   */
  private Optional<Entry> readFile(Path file) {
    try {
      Entry entry = json.read(Files.readAllBytes(file), Entry.class);
      if (entry.format() <= Entry.FORMAT) {
        return Optional.of(entry);
      }
      LOG.log(
          Level.ERROR,
          "journal {0}: expected format {1} or older, got {2}",
          file,
          Entry.FORMAT,
          entry.format());
    } catch (NoSuchFileException e) {
      LOG.log(Level.DEBUG, "journal {0} was removed meanwhile", file);
    } catch (IOException e) {
      LOG.log(Level.ERROR, "journal " + file + " cannot be read", e);
    }
    return Optional.empty();
  }
}
