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
 * @param privateClean of these, not shared and not written
 * @param privateDirty of these, not shared and written
 * @param anonymous pages without a file
 * @param swap pages swapped out
 * @param anonHuge bytes in transparent huge pages
 * @param vmFlags the kernel's two-letter flags, for example {@code rd wr mr mw me ac}
 */
public record MappingUse(
    MemoryMapping mapping,
    long rss,
    long sharedClean,
    long sharedDirty,
    long privateClean,
    long privateDirty,
    long anonymous,
    long swap,
    long anonHuge,
    Set<String> vmFlags) {

  public MappingUse {
    vmFlags = Set.copyOf(vmFlags);
  }

  static List<MappingUse> parse(String text) {
    List<MappingUse> uses = new ArrayList<>();
    MemoryMapping current = null;
    Map<String, String> fields = new HashMap<>();
    for (String line : text.split("\n")) {
      if (MemoryMapping.isHead(line)) {
        add(uses, current, fields);
        current = MemoryMapping.parse(line);
        fields.clear();
      } else {
        int colon = line.indexOf(':');
        if (colon > 0) {
          fields.put(line.substring(0, colon), line.substring(colon + 1).trim());
        }
      }
    }
    add(uses, current, fields);
    return uses;
  }

  private static void add(
      List<MappingUse> uses, @Nullable MemoryMapping mapping, Map<String, String> fields) {
    // If a process ends while its file is read, the last mapping has a header line without its
    // fields.
    if (mapping == null || !fields.containsKey("VmFlags")) {
      return;
    }
    uses.add(
        new MappingUse(
            mapping,
            bytes(fields, "Rss"),
            bytes(fields, "Shared_Clean"),
            bytes(fields, "Shared_Dirty"),
            bytes(fields, "Private_Clean"),
            bytes(fields, "Private_Dirty"),
            bytes(fields, "Anonymous"),
            bytes(fields, "Swap"),
            bytes(fields, "AnonHugePages"),
            Set.of(fields.getOrDefault("VmFlags", "").trim().split("\\s+"))));
  }

  private static long bytes(Map<String, String> fields, String name) {
    String value = fields.get(name);
    return value == null ? 0 : Long.parseLong(value.replace(" kB", "").trim()) * 1024;
  }
}
