package dev.stasis.agent.container;

import dev.stasis.agent.process.CgroupMembership;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.ProcessStatus;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds containers by their running processes. */
public final class ContainerResolver {

  /** More containers than a node has GPUs, since others are looked up rarely. */
  private static final int MOST_REMEMBERED = 256;

  private final ProcFs proc;

  /** The first process of each container that was found, by its id. */
  private final Map<String, ProcessId> known =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, ProcessId> eldest) {
              return size() > MOST_REMEMBERED;
            }
          });

  public ContainerResolver(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * Finds a container by its id, a unique prefix of it, the name of its cgroup, {@code
   * pid-PID-START}, or the pid of one of its processes.
   */
  public Resolution resolve(String name) {
    Optional<ProcessId> plain = ContainerName.plain(name);
    if (plain.isPresent()) {
      return byProcess(plain.get());
    }
    // A number longer than any pid is a prefix of an id.
    if (name.matches("[1-9][0-9]{0,6}")) {
      return byPid(Integer.parseInt(name));
    }
    if (!ContainerName.isWord(name)) {
      return refused(name, "expected an id, a unique prefix of one, or a pid");
    }
    return byId(name);
  }

  /** Returns the container of this process; the process itself if it is in none. */
  public Resolution byPid(int pid) {
    Optional<ProcessId> process = proc.id(pid);
    if (process.isEmpty()) {
      return refused(Integer.toString(pid), "expected the pid of a running process, got none");
    }
    Optional<String> id = ContainerName.runtimeId(proc.cgroups(pid));
    return id.isPresent() ? byId(id.get()) : byProcess(process.get());
  }

  /**
   * Returns whether a process exists that may belong to a container whose id begins so. Reads every
   * process of the node.
   */
  public boolean mayRun(String beginning) {
    return proc.processes().stream()
        .filter(stat -> !stat.isZombie())
        .anyMatch(
            stat ->
                ContainerName.plain(stat.id()).startsWith(beginning)
                    || proc.cgroups(stat.pid()).stream()
                        .anyMatch(membership -> membership.path().contains(beginning)));
  }

  private Resolution byId(String name) {
    Resolution resolution = search(name);
    if (resolution instanceof Resolution.Found one) {
      known.put(one.container().id(), one.container().init());
    }
    return resolution;
  }

  /**
   * Finds a container again, during an operation on it: by the first process that it had, and only
   * in its own cgroups. Pipes to a descendant in another cgroup count as pipes to the outside.
   *
   * @param id its id, not the beginning of one
   */
  public Resolution again(String id) {
    @Nullable ProcessId init = known.get(id);
    List<CgroupMembership> memberships = init == null ? List.of() : proc.cgroups(init.pid());
    if (init == null || !proc.alive(init) || !ContainerName.isIn(memberships, id)) {
      return resolve(id);
    }
    List<Cgroup> cgroups = new CgroupFolders(proc).of(ownCgroups(id, memberships));
    List<ProcessStat> members =
        ProcessTree.members(cgroups, true).stream()
            .map(proc::stat)
            .flatMap(Optional::stream)
            .toList();
    return ofMembers(id, members, members) instanceof Resolution.Found found
            && isWhole(found.container(), init, members.size())
        ? found
        : resolve(id);
  }

  /**
   * Returns whether the container's own cgroups list its first process and the workload below a
   * holder. A process that is ending leaves its cgroup before those below it have ended.
   *
   * @param init the first process that was found before
   * @param members how many processes the cgroups list; a holder alone in them still waits
   */
  private boolean isWhole(Container container, ProcessId init, int members) {
    return container.init().equals(init)
        && (members == 1 || container.isRestored() || !isHolder(init));
  }

  /** Reads every process of the node. */
  private Resolution search(String name) {
    List<ProcessStat> processes = proc.processes();
    Map<Integer, List<CgroupMembership>> memberships =
        processes.stream()
            .filter(stat -> !stat.isKernelThread() && !stat.isZombie())
            .collect(Collectors.toMap(ProcessStat::pid, stat -> proc.cgroups(stat.pid())));
    TreeSet<String> ids = new TreeSet<>();
    for (List<CgroupMembership> of : memberships.values()) {
      ContainerName.runtimeId(of).filter(id -> id.startsWith(name)).ifPresent(ids::add);
      of.stream()
          .map(membership -> membership.path().replaceFirst(".*/", ""))
          .filter(leaf -> ContainerName.names(leaf, name))
          .forEach(leaf -> ids.add(name));
    }
    if (ids.contains(name)) {
      return ofMembers(name, members(name, memberships, processes), processes);
    }
    if (ids.isEmpty()) {
      return refused(name, "expected one that runs on this node, got none");
    }
    if (ids.size() > 1) {
      return refused(name, "expected one, got " + ids.size() + ": " + String.join(", ", ids));
    }
    return ofMembers(ids.first(), members(ids.first(), memberships, processes), processes);
  }

  private static List<ProcessStat> members(
      String id, Map<Integer, List<CgroupMembership>> memberships, List<ProcessStat> processes) {
    return processes.stream()
        .filter(stat -> ContainerName.isIn(memberships.getOrDefault(stat.pid(), List.of()), id))
        .toList();
  }

  private Resolution ofMembers(String id, List<ProcessStat> members, List<ProcessStat> processes) {
    Set<Integer> pids = members.stream().map(ProcessStat::pid).collect(Collectors.toSet());
    // The first process and every exec session have a parent outside. The first process is 1 in its
    // own pid namespace or, if the container shares one, the oldest.
    Optional<ProcessStat> init =
        members.stream()
            .filter(stat -> !pids.contains(stat.ppid()))
            .min(
                Comparator.comparing((ProcessStat stat) -> !isFirstInItsNamespace(stat.pid()))
                    .thenComparing(stat -> depth(stat.pid()))
                    .thenComparing(ProcessStat::startTime));
    if (init.isEmpty()) {
      return refused(id, "expected one that runs on this node, got none");
    }
    ProcessId first = init.get().id();
    return found(id, first, workload(first, processes).orElse(first), true, processes);
  }

  private Resolution byProcess(ProcessId process) {
    if (!proc.alive(process)) {
      return refused(ContainerName.plain(process), "expected a running process, got none");
    }
    return found(ContainerName.plain(process), process, process, false, proc.processes());
  }

  private Resolution found(
      String id, ProcessId init, ProcessId root, boolean owns, List<ProcessStat> processes) {
    int pid = root.pid();
    Optional<ProcessStatus> status = proc.status(pid);
    List<Mount> mounts = proc.mounts(pid);
    List<Cgroup> cgroups =
        new CgroupFolders(proc)
            .of(owns ? ownCgroups(id, proc.cgroups(init.pid())) : proc.cgroups(pid));
    Container container =
        new Container(
            id,
            init,
            root,
            cgroups,
            owns,
            mounts,
            proc.namespaces(pid),
            new OutsidePipes(proc).of(root, processes),
            upper(mounts),
            status.map(s -> s.uids().real()).orElse(0),
            status.map(s -> s.gids().real()).orElse(0));
    // Checked last: everything above was read from this process, or from none.
    return proc.alive(root) && proc.alive(init)
        ? new Resolution.Found(container)
        : refused(id, "expected one that runs on this node, got one that has just ended");
  }

  /** Returns the writable layer of the visible root: only the last mount at a path is visible. */
  private static Optional<Path> upper(List<Mount> mounts) {
    return mounts.stream()
        .filter(mount -> "/".equals(mount.mountPoint()))
        .reduce((first, second) -> second)
        .filter(root -> "overlay".equals(root.type()))
        .flatMap(root -> root.superOption("upperdir"))
        .map(Path::of);
  }

  /**
   * Returns the container's own cgroups: those with its id. A process may have created child
   * cgroups, and may be outside them in a hierarchy (while it is moved, or because it was never
   * added). Such a cgroup also contains other processes; including it would attribute all of them
   * to the container.
   */
  private static List<CgroupMembership> ownCgroups(String id, List<CgroupMembership> memberships) {
    List<CgroupMembership> own = new ArrayList<>();
    for (CgroupMembership membership : memberships) {
      List<String> path = new ArrayList<>();
      for (String segment : membership.path().split("/")) {
        path.add(segment);
        if (ContainerName.names(segment, id)) {
          own.add(
              new CgroupMembership(
                  membership.hierarchy(), membership.controllers(), String.join("/", path)));
          break;
        }
      }
    }
    return own;
  }

  /** Below a holder: the first process of a pid namespace nested in the holder's. */
  private Optional<ProcessId> workload(ProcessId init, List<ProcessStat> processes) {
    if (!isHolder(init)) {
      return Optional.of(init);
    }
    return processes.stream()
        .filter(child -> child.ppid() == init.pid())
        .filter(
            child -> depth(child.pid()) > depth(init.pid()) && isFirstInItsNamespace(child.pid()))
        .map(ProcessStat::id)
        .findFirst();
  }

  private boolean isHolder(ProcessId process) {
    List<String> command = proc.command(process.pid());
    return command.size() > 1
        && command.get(0).replaceFirst(".*/", "").equals("stasis-runtime")
        && command.get(1).equals("init");
  }

  private boolean isFirstInItsNamespace(int pid) {
    return proc.status(pid).filter(ProcessStatus::isFirstInItsNamespace).isPresent();
  }

  private int depth(int pid) {
    return proc.status(pid).map(status -> status.nsPids().size()).orElse(0);
  }

  private static Resolution refused(String name, String why) {
    return new Resolution.Refused("container " + name + ": " + why);
  }

  /** Finds the folders of cgroups: v1, v2, or both. */
  static final class CgroupFolders {

    private final List<Mount> hierarchies;

    /** Reads the hierarchies that this process sees. */
    CgroupFolders(ProcFs proc) {
      this.hierarchies =
          proc.mounts((int) ProcessHandle.current().pid()).stream()
              .filter(mount -> mount.type().startsWith("cgroup"))
              .toList();
    }

    List<Cgroup> of(List<CgroupMembership> memberships) {
      List<Cgroup> cgroups = new ArrayList<>();
      for (CgroupMembership membership : memberships) {
        // A path that leaves the root was read inside a cgroup namespace: there is no folder for
        // it.
        if (!membership.path().startsWith("/..")) {
          find(membership).ifPresent(cgroups::add);
        }
      }
      return cgroups;
    }

    private Optional<Cgroup> find(CgroupMembership membership) {
      for (Mount mount : hierarchies) {
        boolean same =
            membership.isUnified()
                ? "cgroup2".equals(mount.type())
                : "cgroup".equals(mount.type())
                    && mount.superOptions().containsAll(membership.controllers());
        if (same && membership.path().startsWith(mount.root())) {
          Path hierarchy = Path.of(mount.mountPoint());
          String below = membership.path().substring(mount.root().length());
          return Optional.of(
              new Cgroup(
                  membership.controllers(),
                  hierarchy,
                  hierarchy.resolve(below.replaceFirst("^/+", ""))));
        }
      }
      return Optional.empty();
    }
  }
}
