package dev.stasis.agent.layer;

import dev.stasis.artifact.WriteBehind;
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
 * Writes tar archives in the POSIX (pax) format, sparse files as GNU tar 1.0 does, extended
 * attributes as GNU tar and star do: {@code tar --xattrs --xattrs-include='*' -x} reads all of it.
 * Implemented here because names and attribute values must be kept as bytes, which existing
 * libraries decode as UTF-8.
 */
final class PaxWriter implements AutoCloseable {
  static final int BLOCK = 512;

  /** More than Linux allows for the names and attributes of one inode. */
  static final int MOST_RECORD_BYTES = 1 << 20;

  private final FileChannel out;
  private @Nullable WriteBehind behind;
  private LayerPacker.Watch watch = bytes -> {};

  PaxWriter(Path archive) throws IOException {
    out =
        FileChannel.open(archive, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
  }

  /** Writes an entry without data. */
  void write(LayerEntry entry) throws IOException {
    byte[] records = records(entry, false, 0);
    write(
        header("PaxHeaders/" + entry.name(), 'x', records.length, entry),
        padded(records),
        header(entry.path(), entry.kind().letter(), 0, entry));
  }

  /** Writes a file, with the bytes of its extents from {@code data}. */
  void write(LayerEntry file, Extents extents, FileChannel data) throws IOException {
    SparseMap map = SparseMap.of(file, extents);
    long size = map.isSparse() ? map.paddedLength() + map.stored() : file.size();
    byte[] records = records(file, map.isSparse(), size);
    write(
        header("PaxHeaders/" + file.name(), 'x', records.length, file),
        padded(records),
        header(file.path(), file.kind().letter(), size, file));
    if (map.isSparse()) {
      map.write(extents, this::write);
      map.requireSame(extents.forEach((offset, length) -> copy(data, offset, length, file.path())));
    } else {
      copy(data, 0, size, file.path());
    }
    write(new byte[padding(size)]);
  }

  long size() throws IOException {
    return out.position();
  }

  /**
   * Takes back what was written behind this size.
   *
   * @throws IOException also if bytes before it may be lost
   */
  void cut(long size) throws IOException {
    if (behind != null) {
      behind.requireNothingLost();
    }
    out.truncate(size);
  }

  /** From here on reports each write. */
  void reportTo(LayerPacker.Watch other) {
    watch = other;
  }

  /** From here to the next {@link #sync}, writes only as fast as the disk. */
  void waitForDisk() {
    behind = new WriteBehind(out, WriteBehind.USUAL);
  }

  /** Waits until the disk has all of it. */
  void sync() throws IOException {
    behind = null;
    out.force(false);
  }

  void finish() throws IOException {
    write(new byte[2 * BLOCK]);
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  private void copy(FileChannel data, long offset, long length, String path) throws IOException {
    for (long at = offset, left = length; left > 0; ) {
      long count = data.transferTo(at, Math.min(left, WriteBehind.USUAL), out);
      if (count <= 0) {
        throw new EOFException(
            "%s: expected %d bytes from %d on, got %d: the file changed while it was packed"
                .formatted(LinuxError.shown(path), length, offset, length - left));
      }
      at += count;
      left -= count;
      watch.packed(out.position());
      if (behind != null) {
        behind.wrote(count);
      }
    }
  }

  private static byte[] records(LayerEntry entry, boolean sparse, long size) throws IOException {
    ByteArrayOutputStream records = new ByteArrayOutputStream();
    record(records, "mtime", ascii("%d.%09d".formatted(entry.seconds(), entry.nanos())));
    record(records, "uid", ascii(Integer.toUnsignedString(entry.uid())));
    record(records, "gid", ascii(Integer.toUnsignedString(entry.gid())));
    record(records, "size", ascii(Long.toString(size)));
    if (!entry.link().isEmpty()) {
      record(records, "linkpath", bytes(entry.link()));
    }
    if (sparse) {
      record(records, "GNU.sparse.major", ascii("1"));
      record(records, "GNU.sparse.minor", ascii("0"));
      record(records, "GNU.sparse.name", bytes(entry.path()));
      record(records, "GNU.sparse.realsize", ascii(Long.toString(entry.size())));
    } else {
      record(records, "path", bytes(entry.path()));
    }
    for (Map.Entry<String, byte[]> attribute : entry.attributes().entrySet()) {
      // As in GNU tar: a record's key ends at its first equals sign.
      String key = attribute.getKey().replace("%", "%25").replace("=", "%3D");
      record(records, "SCHILY.xattr." + key, attribute.getValue());
    }
    if (records.size() > MOST_RECORD_BYTES) {
      throw new IOException(
          "%s: expected at most %d bytes of names and attributes, got %d"
              .formatted(LinuxError.shown(entry.path()), MOST_RECORD_BYTES, records.size()));
    }
    return records.toByteArray();
  }

  /** A record begins with its own length, including the digits. */
  private static void record(ByteArrayOutputStream to, String key, byte[] value)
      throws IOException {
    int rest = key.length() + value.length + 3;
    int length = rest + Integer.toString(rest).length();
    length = rest + Integer.toString(length).length();
    to.write(bytes(length + " " + key + "="));
    to.write(value);
    to.write('\n');
  }

  /** Values that do not fit into their field are in the pax records, which take precedence. */
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
    watch.packed(out.position());
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
