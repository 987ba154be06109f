package dev.stasis.compat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * How an expected value is compared with an actual one, both in canonical form. Every rule is
 * reflexive.
 */
public enum Rule {
  /** Equal text. */
  EQUAL("", "[^\\n]+") {
    @Override
    boolean fulfils(String wanted, String found) {
      return wanted.equals(found);
    }
  },

  /** Equal text for each GPU; one value applies to all of them. */
  EQUAL_EACH("", "[^\\n]+") {
    @Override
    String canonical(String value) {
      return PerGpu.canonical(value);
    }

    @Override
    boolean fulfils(String wanted, String found) {
      return PerGpu.all(wanted, found, String::equals);
    }
  },

  /**
   * A number for each GPU, none smaller than the expected one; one value applies to all of them.
   */
  AT_LEAST_EACH("at least ", "[0-9]{1,18}( \\| [0-9]{1,18})*") {
    @Override
    String canonical(String value) {
      return PerGpu.canonical(value);
    }

    @Override
    boolean fulfils(String wanted, String found) {
      return PerGpu.all(wanted, found, (want, has) -> Long.parseLong(has) >= Long.parseLong(want));
    }
  },

  /** Dotted numbers, {@code 4.2.1}; compared number by number, a missing one is 0. */
  AT_LEAST_VERSION("at least ", "[0-9]{1,9}(\\.[0-9]{1,9})*") {
    @Override
    boolean fulfils(String wanted, String found) {
      return Arrays.compare(numbers(found), numbers(wanted)) >= 0;
    }

    private int[] numbers(String version) {
      int[] numbers = Arrays.stream(version.split("\\.")).mapToInt(Integer::parseInt).toArray();
      int length = numbers.length;
      while (length > 0 && numbers[length - 1] == 0) {
        length--;
      }
      return Arrays.copyOf(numbers, length);
    }
  },

  /**
   * Words; all expected ones must be present. Canonical: sorted, without duplicates, separated by a
   * space.
   */
  SUPERSET("", "[^\\n]*") {
    @Override
    String canonical(String value) {
      return String.join(" ", Words.parse(value));
    }

    @Override
    boolean fulfils(String wanted, String found) {
      return Words.parse(found).containsAll(Words.parse(wanted));
    }

    @Override
    String explain(String wanted, String found) {
      Set<String> missing = new TreeSet<>(Words.parse(wanted));
      missing.removeAll(Words.parse(found));
      return "expected " + String.join(" ", missing) + ", not found";
    }
  },

  /** {@code yes} or {@code no}; the expected value is never no. */
  WHERE_WANTED("", "yes|no") {
    @Override
    boolean fulfils(String wanted, String found) {
      return wanted.equals("no") || found.equals("yes");
    }
  },

  /** {@link Links}: no pair has a weaker link than expected. */
  LINKS_AT_LEAST("at least ", "[^\\n]+") {
    @Override
    String canonical(String value) {
      return Links.parse(value).text();
    }

    @Override
    boolean fulfils(String wanted, String found) {
      return Links.parse(found).atLeast(Links.parse(wanted));
    }
  };

  private final String words;
  private final Pattern form;

  Rule(String words, String form) {
    this.words = words;
    this.form = Pattern.compile(form);
  }

  /** Returns whether the actual value satisfies the expected one. */
  abstract boolean fulfils(String wanted, String found);

  /** Returns the canonical form of a value that is valid for the rule. */
  String canonical(String value) {
    return value;
  }

  /** Returns the value in canonical form; {@link IllegalArgumentException} names an invalid one. */
  final String read(String key, String value) {
    String trimmed = value.strip();
    if (!form.matcher(trimmed).matches()) {
      throw new IllegalArgumentException(
          "%s: expected a value of the form %s, got \"%s\"".formatted(key, form, value));
    }
    return canonical(trimmed);
  }

  /** Describes the mismatch. */
  String explain(String wanted, String found) {
    return "expected " + words + wanted + ", got " + found;
  }

  /** Values of several GPUs, in order, {@code a | b}; equal ones are written once. */
  private static final class PerGpu {
    private static final String BETWEEN = " | ";

    interface Comparison {
      boolean holds(String wanted, String found);
    }

    static String canonical(String value) {
      List<String> values = parse(value);
      return Set.copyOf(values).size() == 1 ? values.get(0) : String.join(BETWEEN, values);
    }

    /** Compares index by index; another number of GPUs is reported by gpu.count. */
    static boolean all(String wanted, String found, Comparison comparison) {
      List<String> want = parse(wanted);
      List<String> has = parse(found);
      int positions =
          want.size() == 1 || has.size() == 1
              ? Math.max(want.size(), has.size())
              : Math.min(want.size(), has.size());
      for (int i = 0; i < positions; i++) {
        if (!comparison.holds(
            want.get(Math.min(i, want.size() - 1)), has.get(Math.min(i, has.size() - 1)))) {
          return false;
        }
      }
      return true;
    }

    private static List<String> parse(String value) {
      List<String> values = new ArrayList<>();
      for (String part : value.split(Pattern.quote(BETWEEN))) {
        values.add(part.strip());
      }
      return values;
    }
  }
}
