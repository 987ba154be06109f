package dev.stasis.compat;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * How the GPUs of a set are linked, pair by pair, in the order in which the container sees them.
 *
 * <p>As text: {@code None} for one GPU, {@code NV18} when every pair is linked alike (however many
 * there are), else each pair: {@code 0-1=NV18 0-2=SYS 1-2=SYS}.
 */
public final class Links {
  private static final String NONE = "None";

  /** A pair of positions, the smaller first. */
  private record Pair(int first, int second) implements Comparable<Pair> {
    static Pair of(int one, int other) {
      return new Pair(Math.min(one, other), Math.max(one, other));
    }

    @Override
    public int compareTo(Pair other) {
      return first != other.first
          ? Integer.compare(first, other.first)
          : Integer.compare(second, other.second);
    }
  }

  /** Stands for every pair, where a text names none. */
  private static final Pair EVERY = new Pair(-1, -1);

  private final SortedMap<Pair, Link> links;

  private Links(SortedMap<Pair, Link> links) {
    this.links = Collections.unmodifiableSortedMap(links);
  }

  /** Asks for the link of each pair of {@code gpus} GPUs. */
  public static Links of(int gpus, BiFunction<Integer, Integer, Link> between) {
    SortedMap<Pair, Link> links = new TreeMap<>();
    for (int i = 0; i < gpus; i++) {
      for (int j = i + 1; j < gpus; j++) {
        links.put(new Pair(i, j), between.apply(i, j));
      }
    }
    return new Links(links);
  }

  /** Every pair of {@code gpus} GPUs linked alike. */
  public static Links alike(int gpus, Link link) {
    return of(gpus, (i, j) -> link);
  }

  /** Reads {@link #text()}; {@link IllegalArgumentException} for anything else. */
  public static Links parse(String text) {
    SortedMap<Pair, Link> links = new TreeMap<>();
    if (text.equals(NONE)) {
      return new Links(links);
    }
    if (!text.contains("=")) {
      links.put(EVERY, Link.parse(text));
      return new Links(links);
    }
    for (String word : text.split(" ")) {
      if (!word.matches("[0-9]{1,3}-[0-9]{1,3}=.+")) {
        throw new IllegalArgumentException(
            "interconnect: wanted pairs like 0-1=NV18, found \"" + word + "\"");
      }
      int dash = word.indexOf('-');
      int equals = word.indexOf('=');
      Pair pair =
          Pair.of(
              Integer.parseInt(word.substring(0, dash)),
              Integer.parseInt(word.substring(dash + 1, equals)));
      links.put(pair, Link.parse(word.substring(equals + 1)));
    }
    return new Links(links);
  }

  /**
   * The link between two GPUs.
   *
   * @throws IllegalArgumentException when there is no such pair
   */
  public Link between(int one, int other) {
    Link link = links.getOrDefault(Pair.of(one, other), links.get(EVERY));
    if (link == null || one == other) {
      throw new IllegalArgumentException(
          "interconnect: wanted a pair of %s, found %d and %d".formatted(text(), one, other));
    }
    return link;
  }

  /** Whether no pair that both have is linked more weakly than in {@code wanted}. */
  public boolean atLeast(Links wanted) {
    Set<Pair> pairs = new TreeSet<>(wanted.links.keySet());
    pairs.addAll(links.keySet());
    return pairs.stream().allMatch(pair -> atLeast(wanted, pair));
  }

  private boolean atLeast(Links wanted, Pair pair) {
    Link want = wanted.links.getOrDefault(pair, wanted.links.get(EVERY));
    Link has = links.getOrDefault(pair, links.get(EVERY));
    // A pair that only one side has is another number of GPUs: gpu.count says that.
    return want == null || has == null || has.compareTo(want) >= 0;
  }

  /** The canonical text. */
  public String text() {
    if (links.isEmpty()) {
      return NONE;
    }
    if (Set.copyOf(links.values()).size() == 1) {
      return links.values().iterator().next().text();
    }
    return links.entrySet().stream().map(Links::text).collect(Collectors.joining(" "));
  }

  private static String text(Map.Entry<Pair, Link> entry) {
    Pair pair = entry.getKey();
    return pair.first() + "-" + pair.second() + "=" + entry.getValue().text();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Links that && text().equals(that.text());
  }

  @Override
  public int hashCode() {
    return text().hashCode();
  }

  @Override
  public String toString() {
    return text();
  }
}
