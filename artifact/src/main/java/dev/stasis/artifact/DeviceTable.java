package dev.stasis.artifact;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Reads the table that {@code stasis-keeper} writes beside device memory. Its regions are
 * allocations with a number of the library that only the keeper uses.
 */
final class DeviceTable {

  private static final String HEADER = "stasis-device 1";

  private final List<Region> regions = new ArrayList<>();
  private final List<Chunk> chunks = new ArrayList<>();

  private DeviceTable() {}

  /**
   * Reads a table.
   *
   * @throws IOException if the text is invalid; the message names the line
   */
  static ChunkTable parse(String text) throws IOException {
    return new DeviceTable().read(text);
  }

  private ChunkTable read(String text) throws IOException {
    Iterator<String> lines = text.lines().iterator();
    if (!text.endsWith("\n") || !lines.next().equals(HEADER)) {
      throw new IOException("device table: expected \"%s\" and whole lines".formatted(HEADER));
    }
    int number = 1;
    try {
      while (lines.hasNext()) {
        number++;
        String line = lines.next();
        if (line.equals("end " + chunks.size()) && !lines.hasNext()) {
          return new ChunkTable(regions, chunks);
        }
        line(line.split(" ", -1));
      }
    } catch (IllegalArgumentException e) {
      throw new IOException("device table, line %d: %s".formatted(number, e.getMessage()), e);
    }
    throw new IOException("device table: expected \"end %d\"".formatted(chunks.size()));
  }

  private void line(String[] words) {
    if (words[0].equals("R") && words.length == 5 && words[1].equals("" + regions.size())) {
      regions.add(new Region(Long.parseUnsignedLong(words[3], 16), Long.parseLong(words[4])));
    } else if (words[0].equals("C") && words.length == 8) {
      int region = Integer.parseInt(words[2]);
      if (region < 0 || region >= regions.size()) {
        throw new IllegalArgumentException(
            "expected a region below %d, got %d".formatted(regions.size(), region));
      }
      boolean zero = words[6].equals("zero");
      chunks.add(
          new Chunk(
              Integer.parseInt(words[1]),
              regions.get(region).address() + Long.parseLong(words[3]),
              Long.parseLong(words[4]),
              Long.parseLong(words[5]),
              zero ? null : Integer.parseUnsignedInt(words[6], 16),
              zero ? null : words[7]));
    } else {
      throw new IllegalArgumentException(
          "expected a region or a chunk, got \"%s\"".formatted(String.join(" ", words)));
    }
  }
}
