package dev.stasis.agent.layer;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes tar archives in the POSIX (pax) format, sparse files as GNU tar 1.0 has them, extended
 * attributes as GNU tar and star have them: {@code tar --xattrs --xattrs-include='*' -x} reads all
 * of it. Written here since names and attribute values must pass as bytes, which the libraries at
 * hand decode as UTF-8.
 */
final class PaxWriter implements AutoCloseable {
  static final int BLOCK = 512;

  private final FileChannel out;

  PaxWriter(Path archive) throws IOException {
    out =
        FileChannel.open(archive, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
  }

  /** Writes an entry; a file's bytes come from {@code data}. */
  void write(LayerEntry entry, @Nullable FileChannel data) throws IOException {
    byte[] map = entry.isSparse() ? sparseMap(entry) : new byte[0];
    long size = map.length + entry.storedBytes();
    byte[] records = records(entry, size);
    write(
        header("PaxHeaders/" + entry.name(), 'x', records.length, entry),
        padded(records),
        header(entry.path(), entry.kind().letter(), size, entry),
        map);
    if (data != null) {
      for (LayerEntry.Extent extent : entry.extents()) {
        copy(data, extent, entry.path());
      }
      write(new byte[padding(size)]);
    }
  }

  long size() throws IOException {
    return out.position();
  }

  /** Ends the archive. */
  void finish() throws IOException {
    write(new byte[2 * BLOCK]);
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  private void copy(FileChannel data, LayerEntry.Extent extent, String path) throws IOException {
    for (long at = extent.offset(), left = extent.length(); left > 0; ) {
      long count = data.transferTo(at, left, out);
      if (count <= 0) {
        throw new EOFException(
            "%s: wanted %d bytes from %d on, found %d: it changed while it was packed"
                .formatted(
                    LinuxError.shown(path),
                    extent.length(),
                    extent.offset(),
                    extent.length() - left));
      }
      at += count;
      left -= count;
    }
  }

  private static byte[] records(LayerEntry entry, long size) throws IOException {
    ByteArrayOutputStream records = new ByteArrayOutputStream();
    record(records, "mtime", ascii("%d.%09d".formatted(entry.seconds(), entry.nanos())));
    record(records, "uid", ascii(Integer.toUnsignedString(entry.uid())));
    record(records, "gid", ascii(Integer.toUnsignedString(entry.gid())));
    record(records, "size", ascii(Long.toString(size)));
    if (!entry.link().isEmpty()) {
      record(records, "linkpath", bytes(entry.link()));
    }
    if (entry.isSparse()) {
      record(records, "GNU.sparse.major", ascii("1"));
      record(records, "GNU.sparse.minor", ascii("0"));
      record(records, "GNU.sparse.name", bytes(entry.path()));
      record(records, "GNU.sparse.realsize", ascii(Long.toString(entry.size())));
    } else {
      record(records, "path", bytes(entry.path()));
    }
    for (Map.Entry<String, byte[]> attribute : entry.attributes().entrySet()) {
      record(records, "SCHILY.xattr." + attribute.getKey(), attribute.getValue());
    }
    return records.toByteArray();
  }

  /** A record begins with its own length, digits counted. */
  private static void record(ByteArrayOutputStream to, String key, byte[] value)
      throws IOException {
    int rest = key.length() + value.length + 3;
    int length = rest + Integer.toString(rest).length();
    length = rest + Integer.toString(length).length();
    to.write(bytes(length + " " + key + "="));
    to.write(value);
    to.write('\n');
  }

  private static byte[] sparseMap(LayerEntry entry) {
    StringBuilder map = new StringBuilder();
    map.append(entry.extents().size() + 1).append('\n');
    entry
        .extents()
        .forEach(e -> map.append(e.offset()).append('\n').append(e.length()).append('\n'));
    map.append(entry.size()).append("\n0\n");
    return padded(ascii(map.toString()));
  }

  /** What does not fit its field stands in the pax records, which win. */
  private static byte[] header(String name, char type, long size, LayerEntry entry) {
    byte[] header = new byte[BLOCK];
    byte[] shortened = bytes(name);
    System.arraycopy(shortened, 0, header, 0, Math.min(100, shortened.length));
    octal(header, 100, 8, entry.mode());
    octal(header, 108, 8, Integer.toUnsignedLong(entry.uid()));
    octal(header, 116, 8, Integer.toUnsignedLong(entry.gid()));
    octal(header, 124, 12, size);
    octal(header, 136, 12, Math.max(0, entry.seconds()));
    header[156] = (byte) type;
    byte[] link = bytes(entry.link());
    System.arraycopy(link, 0, header, 157, Math.min(100, link.length));
    System.arraycopy(ascii("ustar\00000"), 0, header, 257, 8);
    octal(header, 329, 8, entry.major());
    octal(header, 337, 8, entry.minor());
    Arrays.fill(header, 148, 156, (byte) ' ');
    int sum = 0;
    for (byte b : header) {
      sum += b & 0xff;
    }
    System.arraycopy(ascii("%06o\0 ".formatted(sum)), 0, header, 148, 8);
    return header;
  }

  private static void octal(byte[] header, int at, int width, long value) {
    String digits = Long.toOctalString(value);
    String text = digits.length() >= width ? "0" : digits;
    byte[] field = ascii("0".repeat(width - 1 - text.length()) + text);
    System.arraycopy(field, 0, header, at, field.length);
  }

  private void write(byte[]... pieces) throws IOException {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (byte[] piece : pieces) {
      whole.writeBytes(piece);
    }
    ByteBuffer buffer = ByteBuffer.wrap(whole.toByteArray());
    while (buffer.hasRemaining()) {
      out.write(buffer);
    }
  }

  static int padding(long size) {
    return (int) (-size & (BLOCK - 1));
  }

  private static byte[] padded(byte[] bytes) {
    return Arrays.copyOf(bytes, bytes.length + padding(bytes.length));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] bytes(String name) {
    return name.getBytes(StandardCharsets.ISO_8859_1);
  }
}
