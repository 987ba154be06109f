package dev.stasis.agent.process;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of {@code maps}. Addresses are unsigned 64-bit numbers; those of a program lie below 2^63.
 *
 * @param start first address
 * @param end address after the last byte
 * @param permissions four letters, for example {@code rw-p}
 * @param device the file's device as {@code major:minor} in hexadecimal
 * @param inode 0 when there is no file
 * @param path the file, a name in square brackets, or empty; a trailing {@code " (deleted)"} is
 *     kept
 */
public record MemoryMapping(
    long start, long end, String permissions, String device, long inode, String path) {

  private static final Pattern LINE =
      Pattern.compile(
          "([0-9a-f]+)-([0-9a-f]+) (.{4}) [0-9a-f]+ ([0-9a-f]+:[0-9a-f]+) ([0-9]+) *(.*)");

  public long length() {
    return end - start;
  }

  /** Writes are private to this process (copy on write). */
  public boolean isPrivate() {
    return permissions.charAt(3) == 'p';
  }

  public boolean isWritable() {
    return permissions.charAt(1) == 'w';
  }

  /** The mapping has no file and no name from the kernel. */
  public boolean isAnonymous() {
    return inode == 0 && (path.isEmpty() || path.startsWith("[anon"));
  }

  /** The memory that {@code brk} moves the end of: malloc keeps small objects there. */
  public boolean isHeap() {
    return inode == 0 && path.equals("[heap]");
  }

  static MemoryMapping parse(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("maps: expected START-END PERMISSIONS ..., got " + line);
    }
    return new MemoryMapping(
        Long.parseUnsignedLong(matcher.group(1), 16),
        Long.parseUnsignedLong(matcher.group(2), 16),
        // Many mappings have the same ones.
        matcher.group(3).intern(),
        matcher.group(4).intern(),
        Long.parseUnsignedLong(matcher.group(5)),
        // The kernel escapes only the newline here, so a literal backslash in the name is
        // ambiguous.
        matcher.group(6).replace("\\012", "\n"));
  }

  /** Returns whether a line of smaps begins a mapping, rather than describing the previous one. */
  static boolean isHead(String line) {
    int dash = line.indexOf('-');
    int space = line.indexOf(' ');
    return dash > 0 && dash < space && LINE.matcher(line).matches();
  }
}
