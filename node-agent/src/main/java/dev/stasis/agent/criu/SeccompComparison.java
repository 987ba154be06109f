package dev.stasis.agent.criu;

import dev.stasis.agent.criu.WordFacts.Budget;
import dev.stasis.agent.criu.WordFacts.Truth;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether one filter allows a call that another one refuses. Each version of libseccomp
 * compiles the same profile to different bytes, so both filters are followed along every path that
 * a call can take, and the known bits of the call decide the jumps. A path that cannot be ruled out
 * counts, so a filter that is reported as no laxer is indeed no laxer.
 */
final class SeccompComparison {

  /** A few seconds at most; the profiles of container runtimes need less than a hundredth of it. */
  private static final long STEPS = 20_000_000;

  /** The words of struct seccomp_data: number, architecture, instruction pointer, arguments. */
  private static final int WORDS = 16;

  private static final int LOAD = 0x20;
  private static final int AND = 0x54;
  private static final int JUMP = 0x05;
  private static final int EQUAL = 0x15;
  private static final int GREATER = 0x25;
  private static final int AT_LEAST = 0x35;
  private static final int SET = 0x45;
  private static final int RETURN = 0x06;
  private static final int ACTION = 0xffff0000;

  private final SeccompProgram images;
  private final SeccompProgram targets;
  private final Budget budget = new Budget(STEPS);

  SeccompComparison(SeccompProgram images, SeccompProgram targets) {
    this.images = images;
    this.targets = targets;
  }

  /**
   * A position on a path.
   *
   * @param action the result of the images' filter; null while it runs
   * @param word the word that was loaded last, -1 for none
   * @param bits the bits of it that are left
   */
  private record Place(@Nullable Integer action, int at, int word, int bits, WordFacts[] known) {}

  /** Returns whether every call that the first filter allows is allowed by the second. */
  boolean isNoLaxer() {
    if (images.equals(targets)) {
      return true;
    }
    if (!isPlain(images) || !isPlain(targets)) {
      return false;
    }
    WordFacts[] nothing = new WordFacts[WORDS];
    Arrays.fill(nothing, WordFacts.NONE);
    Deque<Place> left = new ArrayDeque<>();
    left.push(new Place(null, 0, -1, 0, nothing));
    while (!left.isEmpty()) {
      if (!follow(left.pop(), left)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Follows a path to its end; false if the first filter is laxer, or the comparison takes too
   * long.
   */
  private boolean follow(Place from, Deque<Place> left) {
    Place place = from;
    while (true) {
      budget.spend();
      if (budget.isSpent()) {
        return false;
      }
      SeccompProgram program = place.action() == null ? images : targets;
      int at = place.at();
      int constant = program.constant(at);
      switch (program.opcode(at)) {
        case LOAD -> place = new Place(place.action(), at + 1, constant / 4, -1, place.known());
        case AND ->
            place =
                new Place(
                    place.action(), at + 1, place.word(), place.bits() & constant, place.known());
        case JUMP ->
            place =
                new Place(
                    place.action(), at + 1 + constant, place.word(), place.bits(), place.known());
        case RETURN -> {
          if (place.action() != null) {
            return laxness(place.action()) <= laxness(constant);
          }
          place = new Place(constant, 0, -1, 0, place.known());
        }
        default -> {
          Truth truth = truth(program, place);
          Place held = truth == Truth.NO ? null : after(program, place, true, truth);
          Place failed = truth == Truth.YES ? null : after(program, place, false, truth);
          if (held != null && failed != null) {
            left.push(held);
          }
          Place next = failed != null ? failed : held;
          if (next == null) {
            return true; // no call takes this path
          }
          place = next;
        }
      }
    }
  }

  private Truth truth(SeccompProgram program, Place place) {
    int constant = program.constant(place.at());
    WordFacts word = place.known()[place.word()];
    return switch (program.opcode(place.at())) {
      case EQUAL -> word.equal(place.bits(), constant, budget);
      case SET -> not(word.equal(place.bits() & constant, 0, budget));
      case AT_LEAST -> place.bits() == -1 ? word.atLeast(least(constant, 0)) : Truth.UNKNOWN;
      default -> place.bits() == -1 ? word.atLeast(least(constant, 1)) : Truth.UNKNOWN;
    };
  }

  /** The position after a jump; null if no call reaches it. */
  private static @Nullable Place after(
      SeccompProgram program, Place place, boolean held, Truth truth) {
    WordFacts[] known = place.known();
    if (truth == Truth.UNKNOWN) {
      int constant = program.constant(place.at());
      WordFacts word = known[place.word()];
      WordFacts more =
          switch (program.opcode(place.at())) {
            case EQUAL -> word.withEqual(place.bits(), constant, held);
            case SET -> word.withEqual(place.bits() & constant, 0, !held);
            case AT_LEAST -> place.bits() == -1 ? word.withAtLeast(least(constant, 0), held) : word;
            default -> place.bits() == -1 ? word.withAtLeast(least(constant, 1), held) : word;
          };
      if (!more.isPossible()) {
        return null;
      }
      known = known.clone();
      known[place.word()] = more;
    }
    return new Place(
        place.action(), program.target(place.at(), held), place.word(), place.bits(), known);
  }

  private static long least(int constant, int more) {
    return Integer.toUnsignedLong(constant) + more;
  }

  private static Truth not(Truth truth) {
    return switch (truth) {
      case YES -> Truth.NO;
      case NO -> Truth.YES;
      case UNKNOWN -> Truth.UNKNOWN;
    };
  }

  /** The kernel's order of actions, as signed numbers: of several filters the lowest decides. */
  private static int laxness(int action) {
    return action & ACTION;
  }

  /** Returns whether it uses only instructions that libseccomp emits, and returns on every path. */
  private static boolean isPlain(SeccompProgram program) {
    int length = program.length();
    // A word is loaded before every comparison.
    if (program.opcode(0) != LOAD || program.opcode(length - 1) != RETURN) {
      return false;
    }
    for (int at = 0; at < length; at++) {
      long constant = Integer.toUnsignedLong(program.constant(at));
      boolean plain =
          switch (program.opcode(at)) {
            case LOAD -> constant % 4 == 0 && constant < 4 * WORDS;
            case AND, RETURN -> true;
            case JUMP -> at + 1 + constant < length;
            case EQUAL, GREATER, AT_LEAST, SET ->
                program.target(at, true) < length && program.target(at, false) < length;
            default -> false;
          };
      if (!plain) {
        return false;
      }
    }
    return true;
  }
}
