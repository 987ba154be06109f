package dev.stasis.agent.mover;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Chunk;
import dev.stasis.artifact.Region;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses a region journal line by line. Any deviation from the format counts as damage. */
final class JournalParser {

  /** A line that cannot be parsed. */
  static final class Damaged extends Exception {
    private static final long serialVersionUID = 1;
    private final String sentence;

    Damaged(String sentence) {
      super(sentence);
      this.sentence = sentence;
    }

    String sentence() {
      return sentence;
    }
  }

  /** Longer than any path that the kernel accepts. */
  private static final int LONGEST_LINE = 8192;

  private static final Pattern HEADER =
      Pattern.compile(
          "stasis-regions 1 boot=(\\S+) pid=([0-9]{1,9}) start=([0-9]{1,18}) stage=(/.*)");
  private static final Pattern DROP = Pattern.compile("D ([0-9]{1,9}) ([0-9]{1,9})");
  private static final Pattern FILL = Pattern.compile("F ([0-9]{1,9})");
  private static final Pattern INJECTION =
      Pattern.compile("I [0-9]{1,9} [0-9a-f]{1,16} [0-9a-f]{1,16} [0-9a-f]{432}");
  private static final Pattern INJECTION_END = Pattern.compile("E [0-9]{1,9}");

  private record Header(String bootId, ProcessId process, Path stage) {}

  private @Nullable Header header;
  private final List<Region> regions = new ArrayList<>();
  private final SortedMap<Integer, Chunk> chunks = new TreeMap<>();
  private final SortedSet<Integer> absent = new TreeSet<>();
  private boolean injected;
  private int lines;
  private int inOrder;
  private long finalBytes;

  /** Empty if not even the first line is complete. */
  Optional<RegionJournal> journal() {
    Header head = header;
    return head == null
        ? Optional.empty()
        : Optional.of(
            new RegionJournal(
                head.bootId, head.process, head.stage, regions, chunks, absent, injected));
  }

  /** Bytes from the beginning of the stage that are covered by recorded chunks without a gap. */
  long finalBytes() {
    return finalBytes;
  }

  void take(InputStream in) throws IOException, Damaged {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0; next = in.read()) {
      if (next == '\n') {
        lines++;
        take(line.toString(StandardCharsets.UTF_8));
        line.reset();
      } else if (line.size() == LONGEST_LINE) {
        throw new Damaged("line " + (lines + 1) + ": expected at most " + LONGEST_LINE + " bytes");
      } else {
        line.write(next);
      }
    }
  }

  private void take(String line) throws Damaged {
    if (header == null) {
      Matcher head =
          match(HEADER, line, "\"stasis-regions 1 boot=... pid=... start=... stage=/...\"");
      try {
        ProcessId process = new ProcessId(integer(head, 2), number(head, 3));
        header = new Header(head.group(1), process, Path.of(head.group(4)));
      } catch (IllegalArgumentException e) {
        throw new Damaged("line 1: " + e.getMessage());
      }
      return;
    }
    switch (line.isEmpty() ? ' ' : line.charAt(0)) {
      case 'R' -> regions.add(valid(() -> Region.parse(line)));
      case 'C' -> {
        Chunk chunk = valid(() -> Chunk.parse(line));
        chunks.put(chunk.number(), chunk);
        if (chunk.number() == inOrder) {
          inOrder++;
          finalBytes = chunk.offset() + chunk.length();
        }
      }
      case 'D' -> {
        Matcher drop = match(DROP, line, "D FIRST COUNT");
        drop(integer(drop, 1), integer(drop, 2));
      }
      case 'F' -> {
        int number = integer(match(FILL, line, "F CHUNK"), 1);
        known(number);
        absent.remove(number);
      }
      case 'I' -> {
        match(INJECTION, line, "I THREAD MASK ADDRESS REGISTERS");
        injected = true;
      }
      case 'E' -> {
        match(INJECTION_END, line, "E THREAD");
        injected = false;
      }
      default -> throw new Damaged(found("a record R, C, D, F, I or E", line));
    }
  }

  private void drop(int first, int count) throws Damaged {
    for (int i = 0; i < count; i++) {
      int number = first + i; // nine digits each: no overflow
      known(number);
      absent.add(number);
    }
  }

  private void known(int number) throws Damaged {
    if (!chunks.containsKey(number)) {
      throw new Damaged("line " + lines + ": expected a chunk in the stage, got " + number);
    }
  }

  /** Returns a record of memory. */
  private <T> T valid(Supplier<T> record) throws Damaged {
    try {
      return record.get();
    } catch (IllegalArgumentException e) {
      throw new Damaged("line " + lines + ": " + e.getMessage());
    }
  }

  private Matcher match(Pattern pattern, String line, String wanted) throws Damaged {
    Matcher matcher = pattern.matcher(line);
    if (!matcher.matches()) {
      throw new Damaged(found(wanted, line));
    }
    return matcher;
  }

  private String found(String wanted, String line) {
    return "line " + lines + ": expected " + wanted + ", got \"" + line + "\"";
  }

  private static int integer(Matcher matcher, int group) {
    return Integer.parseInt(matcher.group(group));
  }

  private static long number(Matcher matcher, int group) {
    return Long.parseLong(matcher.group(group));
  }
}
