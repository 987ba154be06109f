package dev.stasis.agent.criu;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Passes the paths of watched files to criu, as criu's own pre-dump does. The kernel cannot open a
 * file of an overlay by the handle of a watch. criu compares device and inode before it uses a
 * path.
 */
public final class InodePathCache {

  private static final int SERVICE_MAGIC = 0x55105940;
  private static final int MAGIC = 0x57004059;
  private static final int DEVICE = 1;
  private static final int INODE = 2;
  private static final int PATH = 3;
  private static final int MINOR_BITS = 20;

  /**
   * Writes the file.
   *
   * @param work criu's folder for log and statistics, in which it looks for this file
   * @param paths bytes of each path in ISO-8859-1, by {@code MAJOR:MINOR:INODE}
   */
  public void write(Path work, Map<String, String> paths) throws IOException {
    ByteArrayOutputStream image = new ByteArrayOutputStream();
    image.write(words(SERVICE_MAGIC, MAGIC));
    for (Map.Entry<String, String> one : paths.entrySet()) {
      byte[] entry = entry(one.getKey().split(":"), one.getValue());
      image.write(words(entry.length));
      image.write(entry);
    }
    Files.createDirectories(work);
    Files.write(work.resolve("irmap-cache"), image.toByteArray());
  }

  private static byte[] entry(String[] inode, String path) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream message = CodedOutputStream.newInstance(bytes);
    message.writeUInt32(
        DEVICE, Integer.parseInt(inode[0]) << MINOR_BITS | Integer.parseInt(inode[1]));
    message.writeUInt64(INODE, Long.parseUnsignedLong(inode[2]));
    message.writeByteArray(PATH, path.getBytes(StandardCharsets.ISO_8859_1));
    message.flush();
    return bytes.toByteArray();
  }

  private static byte[] words(int... words) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int word : words) {
      bytes.putInt(word);
    }
    return bytes.array();
  }
}
