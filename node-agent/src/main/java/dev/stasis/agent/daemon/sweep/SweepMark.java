package dev.stasis.agent.daemon.sweep;

import dev.stasis.agent.process.RecordFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A file beside an artifact. It records that the artifact's object specified the deletion of the
 * artifact with it, or that the artifact is a copy of one in a remote store, in this store; its
 * time is that of the last observation. A file that was copied from another cluster names another
 * store, and is ignored. A second file records that the artifact was retained when its object was
 * deleted: then the first one has no effect, even if the sweep of another node, which read the
 * object before, writes it afterwards.
 *
 * @param artifact the artifact's folder
 */
public record SweepMark(Path artifact) {

  private static final String PREFIX = ".goes-with-its-object-";

  private static final String RETAINED = ".outlives-its-object-";

  /** The uid of a store has 36 characters. */
  private static final int LONGEST = 128;

  /** Removes both files, if they exist. */
  public void remove() throws IOException {
    Files.deleteIfExists(file());
    Files.deleteIfExists(retained());
  }

  /** Records durably that the artifact outlives its object, which is being deleted. */
  public void retain() throws IOException {
    new RecordFile(retained()).writeSynced(new byte[0]);
    Files.deleteIfExists(file());
  }

  /** Returns the mark for one of its files; empty for any other file. */
  static Optional<SweepMark> of(Path file) {
    String name = String.valueOf(file.getFileName());
    return Stream.of(PREFIX, RETAINED)
        .filter(name::startsWith)
        .findFirst()
        .map(prefix -> new SweepMark(file.resolveSibling(name.substring(prefix.length()))));
  }

  /**
   * Writes it again.
   *
   * @param store uid of the store
   */
  public void write(String store, Instant seen) throws IOException {
    // Created by a rename, so that it is never read partially; each node that shares the store uses
    // a separate temporary file.
    Path made =
        Files.createTempFile(Objects.requireNonNull(artifact.getParent()), ".mark-", ".new");
    Files.writeString(made, store + "\n");
    Files.setLastModifiedTime(made, FileTime.from(seen));
    Files.move(made, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Returns when the object was last observed in that store; empty without its own mark, or if the
   * artifact outlives its object.
   */
  Optional<Instant> seen(String store) throws IOException {
    try {
      if (Files.exists(retained(), LinkOption.NOFOLLOW_LINKS)
          || !Files.isRegularFile(file(), LinkOption.NOFOLLOW_LINKS)
          || Files.size(file()) > LONGEST
          || !Files.readString(file()).trim().equals(store)) {
        return Optional.empty();
      }
      return Optional.of(Files.getLastModifiedTime(file(), LinkOption.NOFOLLOW_LINKS).toInstant());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private Path file() {
    return artifact.resolveSibling(PREFIX + artifact.getFileName());
  }

  private Path retained() {
    return artifact.resolveSibling(RETAINED + artifact.getFileName());
  }
}
