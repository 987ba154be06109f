package dev.stasis.agent.criu;

import org.jspecify.annotations.Nullable;

/**
 * The known properties of a 32-bit word along one path through two programs.
 *
 * @param mask the known bits
 * @param value the values of those bits; the others are 0
 * @param low the minimum value, unsigned
 * @param high the maximum value, unsigned
 * @param not values that it is known not to have
 */
record WordFacts(int mask, int value, long low, long high, @Nullable Unequal not) {

  static final WordFacts NONE = new WordFacts(0, 0, 0, 0xffffffffL, null);

  /** A value that some bits of a word are known not to have, and the earlier facts. */
  record Unequal(int mask, int value, @Nullable Unequal before) {}

  /** The known result of a comparison. */
  enum Truth {
    YES,
    NO,
    UNKNOWN
  }

  /** Returns whether those bits of the word have that value. */
  Truth equal(int bits, int expected, Budget budget) {
    if ((expected & ~bits) != 0 || (mask & bits & (value ^ expected)) != 0) {
      return Truth.NO;
    }
    if ((bits & ~mask) == 0) {
      return Truth.YES;
    }
    long wide = Integer.toUnsignedLong(expected);
    if (bits == -1 && (wide < low || wide > high)) {
      return Truth.NO;
    }
    for (Unequal each = not; each != null; each = each.before) {
      budget.spend();
      if (each.mask == bits && each.value == expected) {
        return Truth.NO;
      }
    }
    return Truth.UNKNOWN;
  }

  Truth atLeast(long least) {
    return low >= least ? Truth.YES : high < least ? Truth.NO : Truth.UNKNOWN;
  }

  WordFacts withEqual(int bits, int expected, boolean held) {
    if (held) {
      return new WordFacts(mask | bits, value | expected, low, high, not).narrowed();
    }
    long wide = Integer.toUnsignedLong(expected);
    boolean whole = bits == -1;
    return new WordFacts(
            mask,
            value,
            whole && wide == low ? low + 1 : low,
            whole && wide == high ? high - 1 : high,
            new Unequal(bits, expected, not))
        .narrowed();
  }

  WordFacts withAtLeast(long least, boolean held) {
    return (held
            ? new WordFacts(mask, value, Math.max(low, least), high, not)
            : new WordFacts(mask, value, low, Math.min(high, least - 1), not))
        .narrowed();
  }

  /** If only one value is possible, all bits are known. */
  private WordFacts narrowed() {
    if (mask == -1) {
      long only = Integer.toUnsignedLong(value);
      return new WordFacts(mask, value, Math.max(low, only), Math.min(high, only), not);
    }
    return low == high ? new WordFacts(-1, (int) low, low, high, not) : this;
  }

  /** Returns whether such a word can exist, as far as is known. */
  boolean isPossible() {
    return low <= high && (mask != -1 || low == Integer.toUnsignedLong(value));
  }

  /** Limits the work for programs that are made to be slow. */
  static final class Budget {
    private long left;

    Budget(long left) {
      this.left = left;
    }

    void spend() {
      left--;
    }

    boolean isSpent() {
      return left < 0;
    }
  }
}
