package dev.stasis.agent.container;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.ProcessStatus;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Lists the processes of a container. */
public final class ProcessTree {

  private final ProcFs proc;

  public ProcessTree(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * A snapshot of the list.
   *
   * @param members the workload's processes, parents before their children, zombies too
   * @param foreign processes in the container's cgroups that do not descend from the workload, for
   *     example an exec session. criu would leave them out, so a dump would be incomplete
   */
  public record Listing(List<ProcessStat> members, List<ProcessStat> foreign) {

    public Listing {
      members = List.copyOf(members);
      foreign = List.copyOf(foreign);
    }

    /** The members that can run or be stopped. */
    public List<ProcessId> living() {
      return members.stream().filter(stat -> !stat.isZombie()).map(ProcessStat::id).toList();
    }
  }

  public Listing list(Container container) {
    // Cgroups are read first: a process created after that is found among all processes, by its
    // parents.
    Set<Integer> inCgroups = members(container.cgroups(), container.ownsCgroups());
    return listing(container, inCgroups, proc.processes());
  }

  /**
   * Lists a container again while it is frozen, without reading every process of the node, which
   * takes 40 microseconds for each. A zombie is found only if it is known. Children of a process
   * outside the container's own cgroups are outside too: if one is known, all processes are read.
   *
   * @param known the processes of an earlier list
   */
  public Listing listAgain(Container container, Collection<ProcessId> known) {
    Set<Integer> inCgroups = members(container.cgroups(), container.ownsCgroups());
    Set<Integer> pids = new TreeSet<>(inCgroups);
    known.forEach(process -> pids.add(process.pid()));
    pids.add(container.init().pid());
    pids.add(container.root().pid());
    List<ProcessStat> processes = pids.stream().map(proc::stat).flatMap(Optional::stream).toList();
    boolean outside =
        processes.stream().anyMatch(stat -> !stat.isZombie() && !inCgroups.contains(stat.pid()));
    return outside ? list(container) : listing(container, inCgroups, processes);
  }

  private Listing listing(
      Container container, Set<Integer> inCgroups, List<ProcessStat> processes) {
    List<ProcessStat> members = new Descendants(processes).of(container.root());
    Set<ProcessId> known = new HashSet<>();
    members.forEach(stat -> known.add(stat.id()));
    known.add(container.init());
    List<ProcessStat> foreign =
        processes.stream()
            .filter(stat -> inCgroups.contains(stat.pid()) && !known.contains(stat.id()))
            .toList();
    return new Listing(members, foreign);
  }

  /**
   * Lists until two lists are equal, so that no process forked meanwhile is missing.
   *
   * @param rounds maximum number of lists; a tree that forks without end never becomes stable
   * @return the last list, stable or not
   */
  public Listing listUntilStable(Container container, int rounds) {
    Listing before = list(container);
    for (int round = 1; round < rounds; round++) {
      Listing now = list(container);
      if (now.living().equals(before.living()) && now.foreign().size() == before.foreign().size()) {
        return now;
      }
      before = now;
    }
    return before;
  }

  /**
   * Processes in the cgroups or the pid namespace of a container that do not descend from its first
   * process: an exec session, an ephemeral container, a sidecar that shares the namespace.
   */
  public List<ProcessStat> strangers(Container container) {
    Set<Integer> inCgroups = members(container.cgroups(), container.ownsCgroups());
    List<ProcessStat> processes = proc.processes();
    Set<ProcessId> own = new HashSet<>();
    new Descendants(processes).of(container.init()).forEach(stat -> own.add(stat.id()));
    // No process of a namespace is older than its first one.
    long oldest =
        proc.status(container.init().pid()).filter(ProcessStatus::isFirstInItsNamespace).isPresent()
            ? container.init().startTime()
            : 0;
    return processes.stream()
        .filter(stat -> !stat.isZombie() && !stat.isKernelThread() && !own.contains(stat.id()))
        .filter(
            stat ->
                inCgroups.contains(stat.pid())
                    || stat.startTime() >= oldest && sharesPids(stat.pid(), container.init().pid()))
        .toList();
  }

  /**
   * Only processes at the same depth are examined further: root inside a test may not be able to
   * read those of the node.
   */
  private boolean sharesPids(int pid, int init) {
    return depth(pid) == depth(init) && proc.link(pid, "ns/pid").equals(proc.link(init, "ns/pid"));
  }

  private int depth(int pid) {
    return proc.status(pid).map(status -> status.nsPids().size()).orElse(0);
  }

  /** The pids in a container's own cgroups; none if they are not its own. */
  static Set<Integer> members(List<Cgroup> cgroups, boolean own) {
    Set<Integer> pids = new TreeSet<>();
    if (own) {
      cgroups.forEach(cgroup -> collect(cgroup.folder(), pids));
    }
    return pids;
  }

  private static void collect(Path folder, Set<Integer> pids) {
    try {
      Files.readAllLines(folder.resolve("cgroup.procs")).stream()
          .map(Integer::valueOf)
          // 0 is a process that is not in our pid namespace.
          .filter(pid -> pid > 0)
          .forEach(pids::add);
      try (DirectoryStream<Path> below =
          Files.newDirectoryStream(folder, entry -> Files.isDirectory(entry))) {
        for (Path each : below) {
          collect(each, pids);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // A cgroup that disappears while it is read had no process left; its siblings are still read.
    }
  }
}
