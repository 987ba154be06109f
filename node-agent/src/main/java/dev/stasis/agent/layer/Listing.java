package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The names in a folder, in batches: a folder may have more of them than fit into memory. */
final class Listing {

  /** Small, because a path may contain two thousand folders that are all being listed. */
  private static final int BUFFER = 1024;

  private final Handle folder;
  private final byte[] buffer = new byte[BUFFER];
  private final ByteBuffer entries = ByteBuffer.wrap(buffer).order(ByteOrder.nativeOrder());
  private long filled;
  private int at;

  /**
   * @param folder opened for listing, and not listed by other code
   */
  Listing(Handle folder) {
    this.folder = folder;
  }

  /** Returns the next name in the kernel's order; null at the end. */
  @Nullable String next() throws IOException {
    while (true) {
      if (at >= filled) {
        filled = folder.list(buffer);
        at = 0;
        if (filled == 0) {
          return null;
        }
      }
      int begin = at + 19;
      int end = begin;
      while (buffer[end] != 0) {
        end++;
      }
      at += entries.getShort(at + 16);
      String name = new String(buffer, begin, end - begin, StandardCharsets.ISO_8859_1);
      if (!name.equals(".") && !name.equals("..")) {
        return name;
      }
    }
  }
}
