package dev.stasis.agent.daemon.operation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The operations in hand, a file each below the state folder. An entry is on the disk before the
 * step of which it speaks.
 */
final class OperationJournal {

  private static final System.Logger LOG = System.getLogger(OperationJournal.class.getName());
  private static final String SUFFIX = ".json";

  private final Path folder;
  private final OperationJson json = new OperationJson();

  /**
   * The journal of a node; its folder is made.
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

  /** Writes what holds now. */
  synchronized void write(JournalEntry entry) {
    Path fresh = folder.resolve(entry.name() + ".new");
    try {
      try (FileChannel channel =
          FileChannel.open(
              fresh,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer bytes = ByteBuffer.wrap(json.bytes(entry));
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
        channel.force(true);
      }
      Files.move(
          fresh,
          file(entry.name()),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
      syncFolder();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the journal of " + entry.name(), e);
    }
  }

  /** The entry of that name. */
  synchronized Optional<JournalEntry> read(String name) {
    return readFile(file(name));
  }

  /** Every entry, in the order in which the operations were created. */
  synchronized List<JournalEntry> all() {
    List<JournalEntry> entries = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
      for (Path file : files) {
        readFile(file).ifPresent(entries::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the folder " + folder, e);
    }
    entries.sort(Comparator.comparing(JournalEntry::created).thenComparing(JournalEntry::name));
    return entries;
  }

  /** Forgets an operation whose end is known to the API server. */
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

  private void syncFolder() throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * An entry that cannot be read is passed over: the engine's own journal still holds what was
   * touched, and what no operation explains is thawed.
   */
  private Optional<JournalEntry> readFile(Path file) {
    try {
      return Optional.of(json.read(Files.readAllBytes(file), JournalEntry.class));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.ERROR, "a journal that cannot be read: " + file, e);
      return Optional.empty();
    }
  }
}
