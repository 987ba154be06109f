package dev.stasis.compat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * How a wanted value is compared with a found one, both in canonical form. Every rule is reflexive.
 */
public enum Rule {
  /** The same text. */
  EQUAL("", "[^\\n]+") {
    @Override
    boolean fulfils(String wanted, String found) {
      return wanted.equals(found);
    }
  },

  /** The same text for each GPU; one value stands for all of them. */
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

  /** A number for each GPU, none smaller than the wanted one; one value stands for all of them. */
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

  /** Numbers with dots, {@code 4.2.1}; compared number by number, a missing one is 0. */
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

  /** Words; all that are wanted are found. Canonical: sorted, each once, a space between. */
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
      return "wanted " + String.join(" ", missing) + ", not found";
    }
  },

  /** {@code yes} or {@code no}; no is wanted by nobody. */
  WHERE_WANTED("", "yes|no") {
    @Override
    boolean fulfils(String wanted, String found) {
      return wanted.equals("no") || found.equals("yes");
    }
  },

  /** {@link Links}: no pair is linked more weakly than the wanted one. */
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

  /** Whether what is found is as good as what is wanted. */
  abstract boolean fulfils(String wanted, String found);

  /** The one way to write the value; the value has the rule's form. */
  String canonical(String value) {
    return value;
  }

  /** The value in canonical form; {@link IllegalArgumentException} names what cannot be one. */
  final String read(String key, String value) {
    String trimmed = value.strip();
    if (!form.matcher(trimmed).matches()) {
      throw new IllegalArgumentException(
          "%s: wanted a value of the form %s, found \"%s\"".formatted(key, form, value));
    }
    return canonical(trimmed);
  }

  /** The mismatch in words. */
  String explain(String wanted, String found) {
    return "wanted " + words + wanted + ", found " + found;
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

    /** Compares position by position; another number of GPUs is for gpu.count to say. */
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
