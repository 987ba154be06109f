package dev.stasis.artifact;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A range of a process's memory.
 *
 * @param address its first byte, unsigned
 * @param length length in bytes, more than 0
 */
public record Region(long address, long length) {
  private static final Pattern LINE =
      Pattern.compile("R ([0-9]{1,9}) ([0-9a-f]{1,16}) ([0-9]{1,18})");

  public Region {
    if (length <= 0 || Long.compareUnsigned(address + length, address) < 0) {
      throw new IllegalArgumentException(
          "region %x: expected a length of at least 1 within the address space, got %d"
              .formatted(address, length));
    }
  }

  /** Returns the first address after the region. */
  public long end() {
    return address + length;
  }

  /**
   * Parses a line {@code R NUMBER ADDRESS LENGTH} of a chunk table or a region journal.
   *
   * @throws IllegalArgumentException if the line is invalid
   */
  public static Region parse(String line) {
    Matcher words = LINE.matcher(line);
    if (!words.matches()) {
      throw new IllegalArgumentException("expected R REGION ADDRESS LENGTH, got \"" + line + "\"");
    }
    return new Region(Long.parseUnsignedLong(words.group(2), 16), Long.parseLong(words.group(3)));
  }
}
