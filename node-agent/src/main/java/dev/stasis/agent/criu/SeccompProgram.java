package dev.stasis.agent.criu;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * A seccomp filter: a program of classic BPF in the kernel's format. Two are equal if their bytes
 * are.
 *
 * @param code its bytes
 */
public record SeccompProgram(ByteBuffer code) {

  static final int INSTRUCTION = 8;

  /** The kernel's limit. */
  static final int MOST_INSTRUCTIONS = 4096;

  public SeccompProgram {
    code = code.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Reads a program; its instructions are not validated. */
  static SeccompProgram of(byte[] bytes) throws IOException {
    if (bytes.length == 0
        || bytes.length % INSTRUCTION != 0
        || bytes.length > MOST_INSTRUCTIONS * INSTRUCTION) {
      throw new ImageFault(
          "seccomp filter",
          "1 to " + MOST_INSTRUCTIONS + " instructions of " + INSTRUCTION + " bytes",
          bytes.length + " bytes");
    }
    return new SeccompProgram(ByteBuffer.wrap(bytes));
  }

  /** Reads hexadecimal digits, as stasis-runtime prints them. */
  static SeccompProgram of(String digits) throws IOException {
    try {
      return of(HexFormat.of().parseHex(digits));
    } catch (IllegalArgumentException e) {
      throw new IOException("seccomp filter: expected hexadecimal digits, got others", e);
    }
  }

  int length() {
    return code.limit() / INSTRUCTION;
  }

  int opcode(int at) {
    return Short.toUnsignedInt(code.getShort(at * INSTRUCTION));
  }

  /** The destination of a conditional jump. */
  int target(int at, boolean held) {
    return at + 1 + Byte.toUnsignedInt(code.get(at * INSTRUCTION + (held ? 2 : 3)));
  }

  int constant(int at) {
    return code.getInt(at * INSTRUCTION + 4);
  }
}
