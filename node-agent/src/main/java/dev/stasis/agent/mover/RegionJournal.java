package dev.stasis.agent.mover;

import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a region journal says: which memory of a process is where. Read it by {@link JournalReader}.
 *
 * @param bootId the boot under which it was written
 * @param process whose memory it is
 * @param stage the file that holds what was taken out
 * @param regions in the order of writing
 * @param chunks what lies in the stage, by number
 * @param absent numbers of the chunks that were dropped, or about to be, and not filled again:
 *     their only copy is the stage
 * @param injected whether a thread may still hold registers that are not its own: what moved the
 *     memory died before it could put them back
 */
public record RegionJournal(
    String bootId,
    ProcessId process,
    Path stage,
    List<Region> regions,
    SortedMap<Integer, Chunk> chunks,
    SortedSet<Integer> absent,
    boolean injected) {

  /**
   * A stretch of the process's memory that is moved as one.
   *
   * @param address where it begins
   * @param length bytes
   */
  public record Region(int number, long address, long length) {}

  /**
   * A piece of a region that was copied into the stage.
   *
   * @param address where it belongs in the process
   * @param length bytes
   * @param offset where it begins in the stage
   * @param crc32c of its bytes in hex; empty for a chunk of zeros, which the stage does not hold
   * @param sha256 in hex, behind {@code 16x} of sixteen lanes, where it was known
   */
  public record Chunk(
      int number,
      long address,
      long length,
      long offset,
      Optional<String> crc32c,
      Optional<String> sha256) {

    public boolean isZero() {
      return crc32c.isEmpty();
    }
  }

  public RegionJournal {
    regions = List.copyOf(regions);
    chunks = Collections.unmodifiableSortedMap(new TreeMap<>(chunks));
    absent = Collections.unmodifiableSortedSet(new TreeSet<>(absent));
  }

  /**
   * Whether all of the process's memory is in the process and its registers are its own: only then
   * may it go on and the driver restore it.
   */
  public boolean whole() {
    return absent.isEmpty() && !injected;
  }

  /** Bytes that are in the stage only. */
  public long absentBytes() {
    return absent.stream().mapToLong(number -> chunk(number).length()).sum();
  }

  private Chunk chunk(int number) {
    Chunk chunk = chunks.get(number);
    if (chunk == null) {
      throw new IllegalStateException("chunk " + number + ": dropped but not in the journal");
    }
    return chunk;
  }

  /** The name of the journal of this process in its work folder. */
  public static String fileName(ProcessId process) {
    return "regions-" + process.pid() + "-" + process.startTime() + ".journal";
  }
}
