package dev.stasis.agent.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * Who holds a lock of the state folder, as the kernel lists it: looking must not take it, or
 * whoever wants it at this moment would be turned away.
 *
 * @param locks usually {@code /proc/locks}
 * @param stateDir the node's state folder
 */
record LockHolder(Path locks, Path stateDir) {

  /** The pid of the one that acts on the container; empty when nobody does. */
  OptionalInt of(String containerId) throws IOException {
    Path file = stateDir.resolve("locks").resolve(containerId + ".lock");
    if (!Files.exists(file) || !Files.exists(locks)) {
      return OptionalInt.empty();
    }
    String inode = ":" + Files.getAttribute(file, "unix:ino");
    // 3: POSIX  ADVISORY  WRITE 1234 00:1b:56789 0 EOF
    return Files.readAllLines(locks).stream()
        .map(line -> line.trim().split("\\s+"))
        .filter(
            words -> words.length >= 6 && words[5].endsWith(inode) && words[4].matches("[0-9]+"))
        .mapToInt(words -> Integer.parseInt(words[4]))
        .findFirst();
  }
}
