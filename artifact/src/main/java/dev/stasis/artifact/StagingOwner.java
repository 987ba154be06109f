package dev.stasis.artifact;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The process that writes a staging folder, recorded in a file beside the folder. Nodes may share a
 * store, so a process is identified by host, boot, pid and start time.
 */
record StagingOwner(String host, String boot, long pid, long startTime) {
  static final String SUFFIX = ".owner";

  /** Returns the record of this process. */
  static StagingOwner current() throws IOException {
    long pid = ProcessHandle.current().pid();
    return new StagingOwner(
        kernelWord("hostname"),
        kernelWord("random/boot_id"),
        pid,
        startTime(pid)
            .orElseThrow(
                () ->
                    new IOException(
                        "/proc/%d/stat: expected that of this process".formatted(pid))));
  }

  byte[] bytes() {
    return "%s %s %d %d\n".formatted(host, boot, pid, startTime).getBytes(StandardCharsets.UTF_8);
  }

  static Optional<StagingOwner> read(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.empty();
    }
    String[] words = Files.readString(file).trim().split(" ");
    if (words.length != 4 || !words[2].matches("\\d+") || !words[3].matches("\\d+")) {
      return Optional.empty();
    }
    return Optional.of(
        new StagingOwner(words[0], words[1], Long.parseLong(words[2]), Long.parseLong(words[3])));
  }

  /** The state of the owner as seen from the current host. */
  Life life(StagingOwner here) throws IOException {
    // An agent's hostname is that of its pod, which changes while the machine is up.
    if (!host.equals(here.host) && !boot.equals(here.boot)) {
      return Life.UNKNOWN;
    }
    boolean alive =
        boot.equals(here.boot) && startTime(pid).filter(start -> start == startTime).isPresent();
    return alive ? Life.ALIVE : Life.GONE;
  }

  enum Life {
    ALIVE,
    GONE,
    /** It belongs to another node. */
    UNKNOWN
  }

  private static String kernelWord(String name) throws IOException {
    return Files.readString(Path.of("/proc/sys/kernel", name)).trim();
  }

  private static Optional<Long> startTime(long pid) throws IOException {
    Path stat = Path.of("/proc", Long.toString(pid), "stat");
    try {
      String text = Files.readString(stat, StandardCharsets.ISO_8859_1);
      // The command's name may contain spaces and brackets; field 3 follows its last bracket.
      String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
      return Optional.of(Long.parseLong(fields[22 - 3]));
    } catch (IOException e) {
      if (Files.exists(stat)) {
        throw e;
      }
      return Optional.empty();
    }
  }
}
