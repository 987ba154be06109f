package dev.stasis.agent.process;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Processors of a node by their numbers, as the kernel lists them: {@code 0-3,8}.
 *
 * @param cpus ascending, each once
 */
public record CpuSet(List<Integer> cpus) {

  /** More than any kernel is built for (8192). */
  private static final int MOST = 1 << 16;

  public CpuSet {
    cpus = List.copyOf(new TreeSet<>(cpus));
  }

  /**
   * The kernel's list; empty text is no processor at all.
   *
   * @throws IllegalArgumentException when it is no such list
   */
  public static CpuSet parse(String list) {
    List<Integer> cpus = new ArrayList<>();
    for (String range : list.trim().split(",", -1)) {
      if (!range.isEmpty()) {
        int[] ends = Arrays.stream(range.split("-", 2)).mapToInt(Integer::parseInt).toArray();
        int last = ends[ends.length - 1];
        if (ends[0] < 0 || last < ends[0] || last >= MOST) {
          throw new IllegalArgumentException(
              "processors: wanted ranges of numbers below %d, found %s".formatted(MOST, range));
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

  /** Whether it has all of the other's and more. */
  public boolean isMoreThan(CpuSet other) {
    return cpus.size() > other.cpus.size() && cpus.containsAll(other.cpus);
  }

  /**
   * These processors of some, among others: the same ones by rank where there are as many, so that
   * the third of a container's own stays the third; else the same numbers. Empty where neither can
   * be.
   */
  public Optional<CpuSet> carried(CpuSet of, CpuSet to) {
    if (of.cpus.size() == to.cpus.size() && of.cpus.containsAll(cpus)) {
      return Optional.of(
          new CpuSet(cpus.stream().map(cpu -> to.cpus.get(of.cpus.indexOf(cpu))).toList()));
    }
    return to.cpus.containsAll(cpus) ? Optional.of(this) : Optional.empty();
  }

  /** As {@code sched_setaffinity} wants it: whole words of 64 processors, the lowest first. */
  byte[] mask() {
    int highest = cpus.isEmpty() ? 0 : cpus.get(cpus.size() - 1);
    byte[] mask = new byte[(highest / 64 + 1) * 8];
    cpus.forEach(cpu -> mask[cpu / 8] |= (byte) (1 << cpu % 8));
    return mask;
  }

  /** As {@link #parse} reads it. */
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
