package dev.stasis.agent.process;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A mapping and the statistics of its pages ({@code smaps}). Sizes are bytes.
 *
 * @param rss pages in memory
 * @param sharedClean of these, shared with another address space and not written
 * @param sharedDirty of these, shared with another address space and written: after a fork
 * @param swap pages swapped out
 * @param vmFlags the kernel's two-letter flags, for example {@code rd wr mr mw me ac}
 */
public record MappingUse(
    MemoryMapping mapping,
    long rss,
    long sharedClean,
    long sharedDirty,
    long swap,
    Set<String> vmFlags) {

  public MappingUse {
    vmFlags = Set.copyOf(vmFlags);
  }

  /** Parses smaps line by line. */
  static final class Parser {

    private final int most;
    private final long mostHeadBytes;
    private final List<MappingUse> uses = new ArrayList<>();
    private final Map<String, String> fields = new HashMap<>();

    /** Many mappings have the same flags. */
    private final Map<String, Set<String>> flags = new HashMap<>();

    private @Nullable MemoryMapping current;
    private long headBytes;

    /**
     * Parses up to a limit.
     *
     * @param most number of mappings
     * @param mostHeadBytes size of their lines with the path
     */
    Parser(int most, long mostHeadBytes) {
      this.most = most;
      this.mostHeadBytes = mostHeadBytes;
    }

    /** Returns whether the line is within the limits. */
    boolean accept(String line) {
      if (MemoryMapping.isHead(line)) {
        add();
        headBytes += line.length();
        if (uses.size() >= most || headBytes > mostHeadBytes) {
          return false;
        }
        current = MemoryMapping.parse(line);
      } else {
        int colon = line.indexOf(':');
        if (colon > 0) {
          fields.put(line.substring(0, colon), line.substring(colon + 1).trim());
        }
      }
      return true;
    }

    List<MappingUse> end() {
      add();
      return uses;
    }

    private void add() {
      // If a process ends while its file is read, the last mapping has a header line without its
      // fields.
      if (current != null && fields.containsKey("VmFlags")) {
        uses.add(
            new MappingUse(
                current,
                bytes(fields, "Rss"),
                bytes(fields, "Shared_Clean"),
                bytes(fields, "Shared_Dirty"),
                bytes(fields, "Swap"),
                flags.computeIfAbsent(
                    fields.getOrDefault("VmFlags", "").trim(),
                    text -> Set.of(text.split("\\s+")))));
      }
      current = null;
      fields.clear();
    }
  }

  private static long bytes(Map<String, String> fields, String name) {
    String value = fields.get(name);
    return value == null ? 0 : Long.parseLong(value.replace(" kB", "").trim()) * 1024;
  }
}
