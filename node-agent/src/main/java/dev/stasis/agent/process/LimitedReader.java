package dev.stasis.agent.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Reads files of /proc up to a limit: a process can make its own as large as it likes.
 *
 * @param root the folder /proc
 * @param strict whether a larger file is an exception; if not, the beginning of it is the result
 */
record LimitedReader(Path root, boolean strict) {

  /** Some 100 bytes for each of 65,530 mappings, the kernel's usual limit, are 6 MiB. */
  static final int MOST_LINE_BYTES = 16 << 20;

  private static final int MEBIBYTE = 1 << 20;

  Optional<String> text(Path file, int mostBytes) {
    Optional<ProcFiles.Beginning> read = ProcFiles.read(file, mostBytes);
    if (read.isPresent() && !read.get().whole()) {
      exceeded(file, mostBytes / MEBIBYTE + " MiB");
    }
    return read.map(ProcFiles.Beginning::text);
  }

  /** Parses each line after the first {@code skip} ones. */
  <T> List<T> lines(Path file, int skip, int most, Function<String, T> parse) {
    List<T> parsed = new ArrayList<>();
    int[] skipped = {0};
    return eachLine(
            file,
            MOST_LINE_BYTES,
            most,
            line -> {
              if (skipped[0] < skip) {
                skipped[0]++;
                return true;
              }
              return parsed.size() < most && parsed.add(parse.apply(line));
            })
        ? parsed
        : List.of();
  }

  /**
   * Passes on the lines until one is not accepted.
   *
   * @param most how many of the file's entries are accepted
   * @return false if the process is gone
   */
  boolean eachLine(Path file, long mostBytes, int most, Predicate<String> accept) {
    Optional<Boolean> whole = ProcFiles.lines(file, mostBytes, accept);
    if (whole.isPresent() && !whole.get()) {
      exceeded(file, "%d entries of %d MiB".formatted(most, mostBytes / MEBIBYTE));
    }
    return whole.isPresent();
  }

  /** Returns the numbers among a folder's names, in ascending order. */
  List<Integer> numbers(Path folder, int most) {
    List<String> names = ProcFiles.names(folder, most);
    if (names.size() > most) {
      exceeded(folder, most + " entries");
    }
    List<Integer> numbers = new ArrayList<>();
    for (String name : names.subList(0, Math.min(most, names.size()))) {
      if (!name.isEmpty() && name.chars().allMatch(digit -> digit >= '0' && digit <= '9')) {
        numbers.add(Integer.parseInt(name));
      }
    }
    Collections.sort(numbers);
    return numbers;
  }

  void exceeded(Path file, String limit) {
    if (strict) {
      Path name = root.relativize(file);
      throw new ProcLimitException(
          "%s of process %s".formatted(name.subpath(1, name.getNameCount()), name.getName(0)),
          "at most " + limit);
    }
  }
}
