package dev.stasis.agent.criu;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** The chains of seccomp filters in {@code seccomp.img}. */
final class SeccompImage {

  static final int MAGIC = 0x64413049;

  /** A thousand threads with some tens of filters each; 5 bytes are kept of each. */
  private static final int MOST = 1_000_000;

  private static final int SYNCHRONIZE = 1;

  private static final String NAME = "seccomp.img";

  private int[] depth = new int[16];
  private boolean[] synchronizes = new boolean[16];
  private int count;

  SeccompImage read(InputStream in) throws IOException {
    new CriuImage(NAME, CriuImage.COMMON, MAGIC)
        .read(
            in,
            1,
            image -> {
              while (image.next()) {
                if (image.field() == 1) {
                  image.message(this::filter);
                }
              }
            });
    return this;
  }

  /** How many filters the chain has that ends with this one. */
  int depth(int filter) throws IOException {
    return depth[checked(filter)];
  }

  /** Whether a filter of that chain is given to all threads of the process. */
  boolean synchronizes(int filter) throws IOException {
    return synchronizes[checked(filter)];
  }

  private void filter(ImageMessage filter) throws IOException {
    boolean follows = false;
    int before = 0;
    int flags = 0;
    while (filter.next()) {
      switch (filter.field()) {
        case 2 -> {
          follows = true;
          before = filter.number();
        }
        case 3 -> flags = filter.number();
        default -> {}
      }
    }
    if (count == MOST) {
      throw filter.fault("at most " + MOST + " filters", "more");
    }
    if (count == depth.length) {
      depth = Arrays.copyOf(depth, 2 * count);
      synchronizes = Arrays.copyOf(synchronizes, 2 * count);
    }
    // criu writes a chain in its order, and would follow one in a circle for ever.
    depth[count] = follows ? depth(before) + 1 : 1;
    synchronizes[count] = (flags & SYNCHRONIZE) != 0 || follows && synchronizes(before);
    count++;
  }

  private int checked(int filter) throws IOException {
    if (filter < 0 || filter >= count) {
      throw new ImageFault(
          "criu image " + NAME,
          "a filter before number " + count,
          "number " + Integer.toUnsignedString(filter));
    }
    return filter;
  }
}
