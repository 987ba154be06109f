package dev.stasis.kubectl.doctor;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A dotted version number; a suffix is ignored. */
record Version(List<Integer> numbers) implements Comparable<Version> {

  private static final Pattern NUMBERS = Pattern.compile("^v?(\\d{1,6}(?:\\.\\d{1,6})*)");

  static Optional<Version> of(String text) {
    Matcher matcher = NUMBERS.matcher(text);
    return matcher.find()
        ? Optional.of(
            new Version(
                Arrays.stream(matcher.group(1).split("\\.")).map(Integer::valueOf).toList()))
        : Optional.empty();
  }

  /** Returns whether a text is a version older than another. */
  static boolean isOlder(String text, String than) {
    return of(text).flatMap(one -> of(than).map(other -> one.compareTo(other) < 0)).orElse(false);
  }

  /** Returns the number at an index; 0 if there is none. */
  int at(int place) {
    return place < numbers.size() ? numbers.get(place) : 0;
  }

  @Override
  public int compareTo(Version other) {
    for (int i = 0; i < Math.max(numbers.size(), other.numbers.size()); i++) {
      int difference = Integer.compare(at(i), other.at(i));
      if (difference != 0) {
        return difference;
      }
    }
    return 0;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Version version && compareTo(version) == 0;
  }

  @Override
  public int hashCode() {
    return at(0) * 31 + at(1);
  }
}
