package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.Arrays;

/**
 * The map before a sparse file's data, as in GNU tar 1.0: lines of digits, padded to a block.
 *
 * @param extents number of extents
 * @param length length of the lines in bytes
 * @param stored bytes of all extents
 * @param size of the file
 * @param sum checksum of the extents
 */
record SparseMap(long extents, long length, long stored, long size, long sum) {

  /** A map of 8 MiB describes about 400,000 extents; the reader accepts no longer one. */
  static final int MOST_BYTES = 8 << 20;

  private static final int PIECE = 1 << 16;

  /** Receives the next bytes of the map. */
  @FunctionalInterface
  interface Out {
    void write(byte[] piece) throws IOException;
  }

  /**
   * Measures the map of a file.
   *
   * @throws IOException if the file has more holes than a reader accepts
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
                    "%s: expected a file with at most about 400,000 holes, got more"
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

  /** Refuses a file with extents that have changed: its bytes would be written at wrong offsets. */
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

  /** An empty extent at the end gives the size. */
  private static String end(long size) {
    return line(size) + line(0);
  }

  /** Extents at sixteen bytes each: a sparse file may have several 100,000 of them. */
  static final class ExtentList extends AbstractList<LayerEntry.Extent> {
    private long[] numbers = new long[16];
    private int size;

    void append(long offset, long length) {
      if (2 * size == numbers.length) {
        numbers = Arrays.copyOf(numbers, 2 * (size + size / 2));
      }
      numbers[2 * size] = offset;
      numbers[2 * size + 1] = length;
      size++;
    }

    @Override
    public LayerEntry.Extent get(int index) {
      return new LayerEntry.Extent(numbers[2 * index], numbers[2 * index + 1]);
    }

    @Override
    public int size() {
      return size;
    }
  }
}
