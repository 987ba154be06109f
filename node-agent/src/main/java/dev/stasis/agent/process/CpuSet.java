package dev.stasis.agent.process;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Processors of a node by number, in the kernel's list format: {@code 0-3,8}.
 *
 * @param cpus in ascending order, without duplicates
 */
public record CpuSet(List<Integer> cpus) {

  /** More than any kernel is built for (8192). */
  private static final int MOST = 1 << 16;

  public CpuSet {
    cpus = List.copyOf(new TreeSet<>(cpus));
  }

  /**
   * Parses the kernel's list; an empty text is the empty set.
   *
   * @throws IllegalArgumentException if the text is not such a list
   */
  public static CpuSet parse(String list) {
    List<Integer> cpus = new ArrayList<>();
    for (String range : list.trim().split(",", -1)) {
      if (!range.isEmpty()) {
        int[] ends = Arrays.stream(range.split("-", 2)).mapToInt(Integer::parseInt).toArray();
        int last = ends[ends.length - 1];
        if (ends[0] < 0 || last < ends[0] || last >= MOST) {
          throw new IllegalArgumentException(
              "processors: expected ranges of numbers below %d, got %s".formatted(MOST, range));
        }
        for (int cpu = ends[0]; cpu <= last; cpu++) {
          cpus.add(cpu);
        }
      }
    }
    return new CpuSet(cpus);
  }

  public boolean isEmpty() {
    return cpus.isEmpty();
  }

  /** Returns whether this set is a proper superset of the other one. */
  public boolean isMoreThan(CpuSet other) {
    return cpus.size() > other.cpus.size() && cpus.containsAll(other.cpus);
  }

  /**
   * Maps these processors, a subset of {@code of}, to {@code to}: by rank if both have the same
   * size, so that the third of a container's processors stays the third; otherwise by number. Empty
   * if neither is possible.
   */
  public Optional<CpuSet> carried(CpuSet of, CpuSet to) {
    if (of.cpus.size() == to.cpus.size() && of.cpus.containsAll(cpus)) {
      return Optional.of(
          new CpuSet(cpus.stream().map(cpu -> to.cpus.get(of.cpus.indexOf(cpu))).toList()));
    }
    return to.cpus.containsAll(cpus) ? Optional.of(this) : Optional.empty();
  }

  /** The format of {@code sched_setaffinity}: whole words of 64 processors, lowest first. */
  byte[] mask() {
    int highest = cpus.isEmpty() ? 0 : cpus.get(cpus.size() - 1);
    byte[] mask = new byte[(highest / 64 + 1) * 8];
    cpus.forEach(cpu -> mask[cpu / 8] |= (byte) (1 << cpu % 8));
    return mask;
  }

  /** Returns the format that {@link #parse} reads. */
  @Override
  public String toString() {
    StringBuilder list = new StringBuilder();
    for (int i = 0; i < cpus.size(); i++) {
      int from = i;
      while (i + 1 < cpus.size() && cpus.get(i + 1) == cpus.get(i) + 1) {
        i++;
      }
      list.append(list.isEmpty() ? "" : ",").append(cpus.get(from));
      if (i > from) {
        list.append('-').append(cpus.get(i));
      }
    }
    return list.toString();
  }
}
