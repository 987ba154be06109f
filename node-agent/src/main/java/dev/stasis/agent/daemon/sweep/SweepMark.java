package dev.stasis.agent.daemon.sweep;

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

/**
 * The file beside an artifact that says: its object said that it goes with it, in this store; its
 * time is when that was seen. One that was copied along from another cluster names another store,
 * and says nothing here.
 *
 * @param artifact the artifact's folder
 */
public record SweepMark(Path artifact) {

  private static final String PREFIX = ".goes-with-its-object-";

  /** The uid of a store has 36 letters. */
  private static final int LONGEST = 128;

  /** Takes it away, if there is one. */
  public void remove() throws IOException {
    Files.deleteIfExists(file());
  }

  /** The mark that this file is; empty for any other one. */
  static Optional<SweepMark> of(Path file) {
    String name = String.valueOf(file.getFileName());
    return name.startsWith(PREFIX)
        ? Optional.of(new SweepMark(file.resolveSibling(name.substring(PREFIX.length()))))
        : Optional.empty();
  }

  /** Writes it anew. */
  void write(String store, Instant seen) throws IOException {
    // It comes by a rename, so that no part of it is ever read; each node that shares the store
    // has a file of its own until then.
    Path made =
        Files.createTempFile(Objects.requireNonNull(artifact.getParent()), ".mark-", ".new");
    Files.writeString(made, store + "\n");
    Files.setLastModifiedTime(made, FileTime.from(seen));
    Files.move(made, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** When the object was last seen in that store; empty without a mark of its own. */
  Optional<Instant> seen(String store) throws IOException {
    try {
      if (!Files.isRegularFile(file(), LinkOption.NOFOLLOW_LINKS)
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
}
