package dev.stasis.agent.criu;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The chains of seccomp filters in {@code seccomp.img}. */
final class SeccompImage {

  static final int MAGIC = 0x64413049;

  /** A thousand threads with some tens of filters each; 17 bytes are kept for each. */
  private static final int MOST = 1_000_000;

  /** More than the kernel allows for a thread: it counts a filter as its length plus four. */
  private static final int DEEPEST = 32768 / 5;

  /** Some tens of different programs of at most 32 KiB. */
  private static final int MOST_BYTES = 16 << 20;

  private static final int SYNCHRONIZE = 1;

  private static final int LONGEST = SeccompProgram.MOST_INSTRUCTIONS * SeccompProgram.INSTRUCTION;

  private static final String NAME = "seccomp.img";

  private int[] depth = new int[16];
  private boolean[] synchronizes = new boolean[16];
  private int[] previous = new int[16];
  private SeccompProgram[] programs = new SeccompProgram[16];
  private final Map<SeccompProgram, SeccompProgram> known = new HashMap<>();
  private int bytes;
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

  /** Returns the number of filters in the chain that ends with this one. */
  int depth(int filter) throws IOException {
    return depth[checked(filter)];
  }

  /** Returns the chain that ends with this one, oldest first. */
  List<SeccompProgram> chain(int filter) throws IOException {
    SeccompProgram[] chain = new SeccompProgram[depth(filter)];
    int each = filter;
    for (int at = chain.length - 1; at >= 0; at--) {
      chain[at] = programs[each];
      each = previous[each];
    }
    return List.of(chain);
  }

  /** Returns whether a filter of that chain applies to all threads of the process. */
  boolean synchronizes(int filter) throws IOException {
    return synchronizes[checked(filter)];
  }

  private void filter(ImageMessage filter) throws IOException {
    boolean follows = false;
    int before = 0;
    int flags = 0;
    SeccompProgram program = null;
    while (filter.next()) {
      switch (filter.field()) {
        case 1 -> program = SeccompProgram.of(filter.bytes(LONGEST));
        case 2 -> {
          follows = true;
          before = filter.number();
        }
        case 3 -> flags = filter.number();
        default -> {}
      }
    }
    if (program == null) {
      throw filter.fault("a program in each filter", "none");
    }
    if (count == MOST) {
      throw filter.fault("at most " + MOST + " filters", "more");
    }
    if (count == depth.length) {
      depth = Arrays.copyOf(depth, 2 * count);
      synchronizes = Arrays.copyOf(synchronizes, 2 * count);
      previous = Arrays.copyOf(previous, 2 * count);
      programs = Arrays.copyOf(programs, 2 * count);
    }
    // criu writes a chain in order, and would follow a cycle forever.
    depth[count] = follows ? depth(before) + 1 : 1;
    if (depth[count] > DEEPEST) {
      throw filter.fault("at most " + DEEPEST + " filters in a chain", "more");
    }
    previous[count] = before;
    programs[count] = once(filter, program);
    synchronizes[count] = (flags & SYNCHRONIZE) != 0 || follows && synchronizes(before);
    count++;
  }

  /** Threads share programs, which are stored once. */
  private SeccompProgram once(ImageMessage filter, SeccompProgram program) throws IOException {
    SeccompProgram kept = known.putIfAbsent(program, program);
    if (kept != null) {
      return kept;
    }
    bytes += program.code().limit();
    if (bytes > MOST_BYTES) {
      throw filter.fault("at most " + MOST_BYTES + " bytes of different filters", "more");
    }
    return program;
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
