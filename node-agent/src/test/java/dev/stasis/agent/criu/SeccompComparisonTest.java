package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The same profile in other bytes is no laxer; one call more is. */
class SeccompComparisonTest {

  private static final int LOAD = 0x20;
  private static final int AND = 0x54;
  private static final int XOR = 0xa4;
  private static final int EQUAL = 0x15;
  private static final int AT_LEAST = 0x35;
  private static final int SET = 0x45;
  private static final int RETURN = 0x06;
  private static final int ALLOW = 0x7fff0000;
  private static final int ERRNO = 0x00050001;
  private static final int KILL = 0x80000000;
  private static final int NUMBER = 0;
  private static final int FIRST_ARGUMENT = 16;
  private static final int CLONE = 56;

  /** Instructions, each an opcode, two jumps and a constant. */
  private static SeccompProgram program(int[]... instructions) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocate(instructions.length * SeccompProgram.INSTRUCTION)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int[] each : instructions) {
      bytes.putShort((short) each[0]).put((byte) each[1]).put((byte) each[2]).putInt(each[3]);
    }
    return SeccompProgram.of(bytes.array());
  }

  private static int[] of(int opcode, int held, int failed, int constant) {
    return new int[] {opcode, held, failed, constant};
  }

  private static int[] of(int opcode, int constant) {
    return of(opcode, 0, 0, constant);
  }

  /** As older versions of libseccomp write it: one comparison after the other. */
  private static SeccompProgram oneByOne(List<Integer> allowed, int otherwise) throws IOException {
    List<int[]> all = new ArrayList<>(List.of(of(LOAD, NUMBER)));
    for (int call : allowed) {
      all.add(of(EQUAL, 0, 1, call));
      all.add(of(RETURN, ALLOW));
    }
    all.add(of(RETURN, otherwise));
    return program(all.toArray(int[][]::new));
  }

  /** As newer versions write it: halves of halves. */
  private static SeccompProgram byHalves(List<Integer> sorted, int otherwise) throws IOException {
    List<int[]> all = new ArrayList<>(List.of(of(LOAD, NUMBER)));
    halves(sorted, otherwise, all);
    return program(all.toArray(int[][]::new));
  }

  private static void halves(List<Integer> sorted, int otherwise, List<int[]> all) {
    if (sorted.size() == 1) {
      all.add(of(EQUAL, 0, 1, sorted.get(0)));
      all.add(of(RETURN, ALLOW));
      all.add(of(RETURN, otherwise));
      return;
    }
    int middle = sorted.size() / 2;
    List<int[]> lower = new ArrayList<>();
    halves(sorted.subList(0, middle), otherwise, lower);
    all.add(of(AT_LEAST, 1, 0, sorted.get(middle)));
    all.add(of(0x05, 0, 0, 1));
    all.add(of(0x05, 0, 0, lower.size()));
    all.addAll(lower);
    halves(sorted.subList(middle, sorted.size()), otherwise, all);
  }

  /** Allows a call where those bits of its first argument have that value. */
  private static SeccompProgram masked(int bits, int value) throws IOException {
    return program(
        of(LOAD, NUMBER),
        of(EQUAL, 0, 4, CLONE),
        of(LOAD, FIRST_ARGUMENT),
        of(AND, bits),
        of(EQUAL, 0, 1, value),
        of(RETURN, ALLOW),
        of(RETURN, ERRNO));
  }

  private static boolean isNoLaxer(SeccompProgram images, SeccompProgram targets) {
    return new SeccompComparison(images, targets).isNoLaxer();
  }

  @Test
  void theSameProfileOfAnotherVersionIsNoLaxer() throws IOException {
    List<Integer> calls = IntStream.range(0, 400).filter(call -> call % 7 != 3).boxed().toList();
    List<Integer> backwards = new ArrayList<>(calls);
    Collections.reverse(backwards);

    assertThat(isNoLaxer(oneByOne(backwards, ERRNO), byHalves(calls, ERRNO))).isTrue();
    assertThat(isNoLaxer(byHalves(calls, ERRNO), oneByOne(backwards, ERRNO))).isTrue();
  }

  @Test
  void oneCallMoreIsLaxer() throws IOException {
    List<Integer> calls = IntStream.range(0, 400).filter(call -> call % 7 != 3).boxed().toList();
    List<Integer> less = calls.stream().filter(call -> call != 246).toList();

    assertThat(isNoLaxer(byHalves(calls, ERRNO), oneByOne(less, ERRNO))).isFalse();
    assertThat(isNoLaxer(oneByOne(less, ERRNO), byHalves(calls, ERRNO))).isTrue();
    assertThat(isNoLaxer(oneByOne(calls, ERRNO), oneByOne(calls, KILL))).isFalse();
    assertThat(isNoLaxer(oneByOne(calls, KILL), oneByOne(calls, ERRNO))).isTrue();
  }

  @Test
  void aConditionOnAnArgumentThatIsWeakerIsLaxer() throws IOException {
    SeccompProgram strict = masked(0x7e020000, 0);
    SeccompProgram bySet =
        program(
            of(LOAD, NUMBER),
            of(EQUAL, 0, 3, CLONE),
            of(LOAD, FIRST_ARGUMENT),
            of(SET, 1, 0, 0x7e020000),
            of(RETURN, ALLOW),
            of(RETURN, ERRNO));

    assertThat(isNoLaxer(bySet, strict)).isTrue();
    assertThat(isNoLaxer(strict, bySet)).isTrue();
    assertThat(isNoLaxer(masked(0x6e020000, 0), strict)).isFalse();
    assertThat(isNoLaxer(strict, masked(0x6e020000, 0))).isTrue();
    assertThat(isNoLaxer(masked(0, 0), strict)).isFalse();
    assertThat(isNoLaxer(oneByOne(List.of(CLONE), ERRNO), strict)).isFalse();
  }

  /** A value that calculations hide could be allowed by it. */
  @Test
  void aFilterThatLibseccompNeverEmitsMatchesOnlyTheSameBytes() throws IOException {
    SeccompProgram hidden =
        program(
            of(LOAD, FIRST_ARGUMENT),
            of(XOR, 0x1234),
            of(EQUAL, 0, 1, 7),
            of(RETURN, ERRNO),
            of(RETURN, ERRNO));

    assertThat(isNoLaxer(hidden, hidden)).isTrue();
    assertThat(isNoLaxer(hidden, oneByOne(List.of(1), ERRNO))).isFalse();
    // It begins with a comparison of nothing.
    assertThat(isNoLaxer(program(of(EQUAL, 0, 0, 7), of(RETURN, KILL)), hidden)).isFalse();
    // It jumps behind its end.
    assertThat(
            isNoLaxer(
                program(of(LOAD, NUMBER), of(EQUAL, 9, 9, 7), of(RETURN, KILL)),
                oneByOne(List.of(1), ERRNO)))
        .isFalse();
  }

  /** Each bit of six words halves the paths: 2^192 of them. */
  @Test
  void aProgramThatWasMadeToBeSlowIsRefusedInTime() throws IOException {
    List<int[]> all = new ArrayList<>();
    for (int word = 0; word < 6; word++) {
      all.add(of(LOAD, FIRST_ARGUMENT + 4 * word));
      for (int bit = 0; bit < 32; bit++) {
        all.add(of(SET, 0, 0, 1 << bit));
      }
    }
    all.add(of(RETURN, ALLOW));

    assertThat(isNoLaxer(program(all.toArray(int[][]::new)), masked(-1, 1))).isFalse();
    all.set(all.size() - 1, of(RETURN, KILL));
    assertThat(isNoLaxer(program(all.toArray(int[][]::new)), masked(-1, 1))).isFalse();
  }
}
