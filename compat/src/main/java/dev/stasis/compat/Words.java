package dev.stasis.compat;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A set of words on one line. White space and backslashes are escaped as in /proc/mounts. */
final class Words {
  private Words() {}

  static String of(Collection<String> words) {
    return words.stream().map(Words::escaped).sorted().distinct().collect(Collectors.joining(" "));
  }

  /** The escaped words of the line, which is enough to compare them. */
  static SortedSet<String> parse(String line) {
    SortedSet<String> words = new TreeSet<>();
    for (String word : line.split("\\s+")) {
      if (!word.isEmpty()) {
        words.add(word);
      }
    }
    return words;
  }

  private static String escaped(String word) {
    if (word.isEmpty()) {
      throw new IllegalArgumentException("expected a word, got an empty one");
    }
    StringBuilder line = new StringBuilder(word.length());
    for (char c : word.toCharArray()) {
      if (c == '\\' || Character.isWhitespace(c) || Character.isISOControl(c)) {
        for (byte b : String.valueOf(c).getBytes(StandardCharsets.UTF_8)) {
          line.append("\\%03o".formatted(b & 0xff));
        }
      } else {
        line.append(c);
      }
    }
    return line.toString();
  }
}
