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
 * The pairwise connections of a set of GPUs, in the order inside the container.
 *
 * <p>As text: {@code None} for one GPU; {@code NV18} if all pairs have the same link, for any
 * number of GPUs; otherwise each pair: {@code 0-1=NV18 0-2=SYS 1-2=SYS}.
 */
public final class Links {
  private static final String NONE = "None";

  /** A pair of indexes, the smaller first. */
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

  /** Represents every pair, if the text names none. */
  private static final Pair EVERY = new Pair(-1, -1);

  private final SortedMap<Pair, Link> links;

  private Links(SortedMap<Pair, Link> links) {
    this.links = Collections.unmodifiableSortedMap(links);
  }

  /** Reads the link of each pair of {@code gpus} GPUs. */
  public static Links of(int gpus, BiFunction<Integer, Integer, Link> between) {
    SortedMap<Pair, Link> links = new TreeMap<>();
    for (int i = 0; i < gpus; i++) {
      for (int j = i + 1; j < gpus; j++) {
        links.put(new Pair(i, j), between.apply(i, j));
      }
    }
    return new Links(links);
  }

  /** Returns links in which all pairs of {@code gpus} GPUs are equal. */
  public static Links alike(int gpus, Link link) {
    return of(gpus, (i, j) -> link);
  }

  /** Parses {@link #text()}; throws {@link IllegalArgumentException} for anything else. */
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
            "interconnect: expected pairs like 0-1=NV18, got \"" + word + "\"");
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
   * Returns the link between two GPUs.
   *
   * @throws IllegalArgumentException if there is no such pair
   */
  public Link between(int one, int other) {
    Link link = links.getOrDefault(Pair.of(one, other), links.get(EVERY));
    if (link == null || one == other) {
      throw new IllegalArgumentException(
          "interconnect: expected a pair of %s, got %d and %d".formatted(text(), one, other));
    }
    return link;
  }

  /** Returns whether no common pair has a weaker link than in {@code wanted}. */
  public boolean atLeast(Links wanted) {
    Set<Pair> pairs = new TreeSet<>(wanted.links.keySet());
    pairs.addAll(links.keySet());
    return pairs.stream().allMatch(pair -> atLeast(wanted, pair));
  }

  private boolean atLeast(Links wanted, Pair pair) {
    Link want = wanted.links.getOrDefault(pair, wanted.links.get(EVERY));
    Link has = links.getOrDefault(pair, links.get(EVERY));
    // A pair that only one side has means another number of GPUs, which gpu.count reports.
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
