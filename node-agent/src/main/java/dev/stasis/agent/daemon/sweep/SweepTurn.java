package dev.stasis.agent.daemon.sweep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * Whose turn it is to sweep a store that many nodes reach: a file in its root whose time is when it
 * was swept last. All of them would read all manifests otherwise. Two that come at once both sweep,
 * which harms nobody.
 *
 * @param root the store's root
 * @param every how often it is to be swept
 */
record SweepTurn(Path root, Duration every, Clock clock) {

  private static final String FILE = ".swept";

  /** Whether it is this node's turn; then nobody else's for that time. */
  boolean take() throws IOException {
    Path file = root.resolve(FILE);
    Instant now = clock.instant();
    if (wasSweptBefore(file, now)) {
      return false;
    }
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.write(file, new byte[0]);
    }
    Files.setLastModifiedTime(file, FileTime.from(now));
    return true;
  }

  private boolean wasSweptBefore(Path file, Instant now) throws IOException {
    try {
      Duration since =
          Duration.between(
              Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant(), now);
      // A time to come is of a node whose clock is wrong, and holds nobody up.
      return !since.isNegative() && since.compareTo(every) < 0;
    } catch (NoSuchFileException e) {
      return false;
    }
  }
}
