package dev.stasis.store;

/**
 * Names of chunks, by their first 64 bits. The names of all chunks of a namespace would fill the
 * heap of an agent if they were kept in full. Two names that begin with the same bits count as one,
 * so that a chunk that nothing uses may stay.
 */
final class ChunkNames {
  private static final int FIRST_SLOTS = 1 << 10;

  /** The number of slots is a power of two; a free one is 0. */
  private long[] slots = new long[FIRST_SLOTS];

  private int used;

  void add(ChunkName name) {
    if (used == slots.length / 4 * 3) {
      grow();
    }
    long value = value(name);
    int slot = slot(value);
    if (slots[slot] == 0) {
      slots[slot] = value;
      used++;
    }
  }

  boolean contains(ChunkName name) {
    long value = value(name);
    return slots[slot(value)] == value;
  }

  private void grow() {
    long[] before = slots;
    slots = new long[2 * before.length];
    for (long value : before) {
      if (value != 0) {
        slots[slot(value)] = value;
      }
    }
  }

  /** Returns the slot of a value, or the free one where it belongs. */
  private int slot(long value) {
    int last = slots.length - 1;
    // The bits of a name are random.
    int slot = (int) value & last;
    while (slots[slot] != 0 && slots[slot] != value) {
      slot = (slot + 1) & last;
    }
    return slot;
  }

  private static long value(ChunkName name) {
    return name.a() == 0 ? 1 : name.a();
  }
}
