package dev.stasis.agent.mover;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Chunk;
import dev.stasis.artifact.Region;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The content of a region journal: the location of each part of a process's memory. {@link
 * JournalReader} reads it.
 *
 * @param bootId the boot during which it was written
 * @param process the process that owns the memory
 * @param stage the file that holds the copied memory
 * @param regions in the order of the records
 * @param chunks the chunks in the stage, by number
 * @param absent numbers of the chunks that were dropped, or were about to be, and not filled since:
 *     their only copy is in the stage
 * @param injected whether a thread may still have foreign registers, because the mover died before
 *     it restored them
 */
public record RegionJournal(
    String bootId,
    ProcessId process,
    Path stage,
    List<Region> regions,
    SortedMap<Integer, Chunk> chunks,
    SortedSet<Integer> absent,
    boolean injected) {

  public RegionJournal {
    regions = List.copyOf(regions);
    chunks = Collections.unmodifiableSortedMap(new TreeMap<>(chunks));
    absent = Collections.unmodifiableSortedSet(new TreeSet<>(absent));
  }

  /**
   * Returns whether all of the process's memory is in the process and its registers are its own.
   * Only then may the process be continued and the driver restore it.
   */
  public boolean whole() {
    return absent.isEmpty() && !injected;
  }

  /** Bytes that are only in the stage. */
  public long absentBytes() {
    return absent.stream().mapToLong(number -> chunk(number).length()).sum();
  }

  private Chunk chunk(int number) {
    Chunk chunk = chunks.get(number);
    if (chunk == null) {
      throw new IllegalStateException(
          "chunk " + number + ": expected a record in the journal, got none");
    }
    return chunk;
  }

  /** Returns the name of this process's journal in its work folder. */
  public static String fileName(ProcessId process) {
    return "regions-" + process.pid() + "-" + process.startTime() + ".journal";
  }
}
