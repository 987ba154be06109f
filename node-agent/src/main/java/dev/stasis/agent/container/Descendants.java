package dev.stasis.agent.container;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds a process and all its descendants.
 *
 * @param processes those among which it looks
 */
record Descendants(List<ProcessStat> processes) {

  /** Returns them, parents before their children. */
  List<ProcessStat> of(ProcessId root) {
    Map<Integer, List<ProcessStat>> children =
        processes.stream().collect(Collectors.groupingBy(ProcessStat::ppid));
    List<ProcessStat> found = new ArrayList<>();
    Set<ProcessId> seen = new HashSet<>();
    Deque<ProcessStat> open = new ArrayDeque<>();
    processes.stream().filter(stat -> stat.id().equals(root)).forEach(open::add);
    while (!open.isEmpty()) {
      ProcessStat next = open.removeFirst();
      // A pid reused while the list was read could otherwise create a cycle.
      if (seen.add(next.id())) {
        found.add(next);
        open.addAll(children.getOrDefault(next.pid(), List.of()));
      }
    }
    return found;
  }
}
