package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The map before a sparse file's bytes, as GNU tar 1.0 has it: lines of digits, padded to a block.
 *
 * @param extents how many parts are no hole
 * @param length of the lines, in bytes
 * @param stored bytes of all extents
 * @param size of the file
 * @param sum of the extents
 */
record SparseMap(long extents, long length, long stored, long size, long sum) {

  /** A map of 8 MiB describes some 400,000 extents; the reader takes no longer one. */
  static final int MOST_BYTES = 8 << 20;

  private static final int PIECE = 1 << 16;

  /** Takes the next bytes of the map. */
  @FunctionalInterface
  interface Out {
    void write(byte[] piece) throws IOException;
  }

  /**
   * Measures the map of a file.
   *
   * @throws IOException when the file has so many holes that no reader would take the map
   */
  static SparseMap of(LayerEntry file, Extents extents) throws IOException {
    // Count, length, stored.
    long[] sums = new long[3];
    long sum =
        extents.forEach(
            (offset, length) -> {
              sums[0]++;
              sums[1] += line(offset).length() + line(length).length();
              sums[2] += length;
              if (sums[1] > MOST_BYTES - 64) {
                throw new IOException(
                    "%s: expected a file with at most some 400,000 holes, got more"
                        .formatted(LinuxError.shown(file.path())));
              }
            });
    long lines = line(sums[0] + 1).length() + sums[1] + end(file.size()).length();
    return new SparseMap(sums[0], lines, sums[2], file.size(), sum);
  }

  boolean isSparse() {
    return stored < size;
  }

  long paddedLength() {
    return length + PaxWriter.padding(length);
  }

  void write(Extents of, Out out) throws IOException {
    StringBuilder piece = new StringBuilder(line(extents + 1));
    requireSame(
        of.forEach(
            (offset, bytes) -> {
              piece.append(line(offset)).append(line(bytes));
              if (piece.length() > PIECE) {
                flush(piece, out);
              }
            }));
    piece.append(end(size));
    flush(piece, out);
    out.write(new byte[PaxWriter.padding(length)]);
  }

  /** Refuses a file whose extents are others by now: its bytes would be put in wrong places. */
  void requireSame(long found) throws IOException {
    if (found != sum) {
      throw new IOException("sparse file: expected the same holes as before, got others");
    }
  }

  private static void flush(StringBuilder piece, Out out) throws IOException {
    out.write(piece.toString().getBytes(StandardCharsets.US_ASCII));
    piece.setLength(0);
  }

  private static String line(long number) {
    return number + "\n";
  }

  /** An empty extent at the end tells the size. */
  private static String end(long size) {
    return line(size) + line(0);
  }
}
