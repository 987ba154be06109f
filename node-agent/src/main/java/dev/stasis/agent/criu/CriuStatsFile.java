package dev.stasis.agent.criu;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads {@code stats-dump} and {@code stats-restore}: two magic numbers, a length, and one protocol
 * buffers message with the numbers of either a dump (field 1) or a restore (field 2).
 */
public final class CriuStatsFile {

  private static final int SERVICE_MAGIC = 0x55105940;
  private static final int STATS_MAGIC = 0x57093306;

  private final Path file;

  public CriuStatsFile(Path file) {
    this.file = file;
  }

  public CriuStats read() throws IOException {
    ByteBuffer image = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    try {
      int first = image.getInt();
      int second = image.getInt();
      if (first != SERVICE_MAGIC || second != STATS_MAGIC) {
        throw new IOException(file + ": expected criu's statistics, got another kind of file");
      }
      ByteBuffer message = part(image, image.getInt());
      long key = varint(message);
      Map<Integer, Long> numbers = numbers(part(message, (int) varint(message)));
      return switch ((int) (key >>> 3)) {
        case 1 ->
            new CriuStats.Dump(
                micros(numbers, 1),
                micros(numbers, 2),
                micros(numbers, 3),
                micros(numbers, 4),
                numbers.getOrDefault(5, 0L),
                numbers.getOrDefault(7, 0L));
        case 2 ->
            new CriuStats.Restore(
                micros(numbers, 3), micros(numbers, 4), numbers.getOrDefault(5, 0L));
        default -> throw new IOException(file + ": expected field 1 or 2, got " + (key >>> 3));
      };
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new IOException(file + ": expected criu's statistics, got a torn file", e);
    }
  }

  private static Duration micros(Map<Integer, Long> numbers, int field) {
    return Duration.of(numbers.getOrDefault(field, 0L), ChronoUnit.MICROS);
  }

  private static ByteBuffer part(ByteBuffer from, int length) {
    ByteBuffer part = from.slice(from.position(), length);
    from.position(from.position() + length);
    return part;
  }

  /** Every field of both messages is a varint (wire type 0). */
  private static Map<Integer, Long> numbers(ByteBuffer message) {
    Map<Integer, Long> numbers = new HashMap<>();
    while (message.hasRemaining()) {
      long key = varint(message);
      if ((key & 7) != 0) {
        throw new IllegalArgumentException("wire type " + (key & 7));
      }
      numbers.put((int) (key >>> 3), varint(message));
    }
    return numbers;
  }

  private static long varint(ByteBuffer from) {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte next = from.get();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number of more than 64 bits");
  }
}
