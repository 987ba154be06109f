package dev.stasis.artifact;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The regions of one process and the chunks that cover them, in order and without a gap. As text,
 * its {@code R} and {@code C} lines are those of the region journal, so that a restore starts its
 * journal with a copy of them.
 */
public record ChunkTable(List<Region> regions, List<Chunk> chunks) {
  private static final String HEADER = "stasis-chunks 1";

  /**
   * @throws IllegalArgumentException if the chunks do not cover the regions exactly, in order
   */
  public ChunkTable {
    regions = List.copyOf(regions);
    chunks = List.copyOf(chunks);
    int next = 0;
    for (Region region : regions) {
      long address = region.address();
      while (address != region.end()) {
        if (next == chunks.size()) {
          throw new IllegalArgumentException(
              "chunk %d: expected a chunk at %x, got the end of the table"
                  .formatted(next, address));
        }
        Chunk chunk = chunks.get(next);
        if (chunk.number() != next
            || chunk.address() != address
            || Long.compareUnsigned(chunk.length(), region.end() - address) > 0) {
          throw new IllegalArgumentException(
              ("chunk %d: expected number %d at %x, at most %d bytes long, got number %d at %x,"
                      + " %d bytes")
                  .formatted(
                      next,
                      next,
                      address,
                      region.end() - address,
                      chunk.number(),
                      chunk.address(),
                      chunk.length()));
        }
        address += chunk.length();
        next++;
      }
    }
    if (next != chunks.size()) {
      throw new IllegalArgumentException(
          "chunks: expected %d to cover the regions, got %d".formatted(next, chunks.size()));
    }
  }

  /** Returns the minimum length in bytes of a data file that holds every chunk. */
  public long dataSize() {
    return chunks.stream().mapToLong(c -> c.offset() + c.length()).max().orElse(0);
  }

  /** Bytes in chunks that are not all zeros. */
  public long storedBytes() {
    return chunks.stream().filter(c -> !c.zero()).mapToLong(Chunk::length).sum();
  }

  /** The table as text, with one record per line. */
  public String text() {
    StringBuilder text = new StringBuilder(HEADER).append('\n');
    for (int i = 0; i < regions.size(); i++) {
      text.append("R %d %x %d\n".formatted(i, regions.get(i).address(), regions.get(i).length()));
    }
    chunks.forEach(chunk -> appendChunk(text, chunk));
    return text.append("end ").append(chunks.size()).append('\n').toString();
  }

  private static void appendChunk(StringBuilder text, Chunk chunk) {
    text.append("C ")
        .append(chunk.number())
        .append(' ')
        .append(Long.toHexString(chunk.address()))
        .append(' ')
        .append(chunk.length())
        .append(' ')
        .append(chunk.offset())
        .append(' ');
    Integer crc = chunk.crc32c();
    text.append(crc == null ? Chunk.ZERO : "%08x".formatted(crc));
    if (chunk.sha256() != null) {
      text.append(' ').append(chunk.sha256());
    }
    text.append('\n');
  }

  /**
   * Parses the format of {@link #text()}.
   *
   * @throws IOException if the text is invalid; the message names the line
   */
  public static ChunkTable parse(String text) throws IOException {
    List<Region> regions = new ArrayList<>();
    List<Chunk> chunks = new ArrayList<>();
    int at = HEADER.length() + 1;
    if (!text.startsWith(HEADER + "\n") || !text.endsWith("\n") || text.length() == at) {
      throw new IOException(
          "chunk table: expected \"%s\" and whole lines, got \"%s\""
              .formatted(HEADER, text.substring(0, Math.min(text.length(), 40))));
    }
    // Line by line: splitting all lines at once would take several times the memory of the table.
    int number = 2;
    int end = text.indexOf('\n', at);
    for (; end < text.length() - 1; at = end + 1, end = text.indexOf('\n', at), number++) {
      try {
        line(text.substring(at, end), regions, chunks);
      } catch (IllegalArgumentException e) {
        throw new IOException(
            "chunk table, line %d: expected a region or a chunk: %s"
                .formatted(number, e.getMessage()),
            e);
      }
    }
    String last = text.substring(at, end);
    if (!last.equals("end " + chunks.size())) {
      throw new IOException(
          "chunk table: expected \"end %d\", got \"%s\"".formatted(chunks.size(), last));
    }
    try {
      return new ChunkTable(regions, chunks);
    } catch (IllegalArgumentException e) {
      throw new IOException("chunk table: " + e.getMessage(), e);
    }
  }

  private static void line(String line, List<Region> regions, List<Chunk> chunks) {
    if (line.startsWith("R " + regions.size() + " ")) {
      regions.add(Region.parse(line));
    } else {
      chunks.add(Chunk.parse(line));
    }
  }
}
