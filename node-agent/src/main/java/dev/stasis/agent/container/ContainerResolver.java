package dev.stasis.agent.container;

import dev.stasis.agent.process.CgroupMembership;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.ProcessStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Finds containers by what the kernel says of the processes that run. */
public final class ContainerResolver {

  private final ProcFs proc;

  public ContainerResolver(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * Finds a container by its id, the unique beginning of one, the name of its cgroup, {@code
   * pid-PID-START}, or the pid of one of its processes.
   */
  public Resolution resolve(String name) {
    Optional<ProcessId> plain = ContainerName.plain(name);
    if (plain.isPresent()) {
      return byProcess(plain.get());
    }
    // Longer than a pid can be, digits are the beginning of an id.
    if (name.matches("[1-9][0-9]{0,6}")) {
      return byPid(Integer.parseInt(name));
    }
    if (!ContainerName.isWord(name)) {
      return refused(name, "wanted an id, the beginning of one, or a pid");
    }
    return byId(name);
  }

  /** The container that this process is in; the process itself when it is in none. */
  public Resolution byPid(int pid) {
    Optional<ProcessId> process = proc.id(pid);
    if (process.isEmpty()) {
      return refused(Integer.toString(pid), "wanted the pid of a running process, found none");
    }
    Optional<String> id = ContainerName.runtimeId(proc.cgroups(pid));
    return id.isPresent() ? byId(id.get()) : byProcess(process.get());
  }

  private Resolution byId(String name) {
    Map<Integer, List<CgroupMembership>> memberships =
        proc.processes().stream()
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
      return ofMembers(name, memberships);
    }
    if (ids.isEmpty()) {
      return refused(name, "wanted one that runs on this node, found none");
    }
    if (ids.size() > 1) {
      return refused(name, "wanted one, found " + ids.size() + ": " + String.join(", ", ids));
    }
    return ofMembers(ids.first(), memberships);
  }

  private Resolution ofMembers(String id, Map<Integer, List<CgroupMembership>> memberships) {
    List<Integer> members =
        memberships.entrySet().stream()
            .filter(entry -> ContainerName.isIn(entry.getValue(), id))
            .map(Map.Entry::getKey)
            .toList();
    // The first process and every exec session come from outside. The first one is 1 in its own
    // pid namespace, or, where the container shares one, the oldest.
    Optional<ProcessStat> init =
        members.stream()
            .map(proc::stat)
            .flatMap(Optional::stream)
            .filter(stat -> !members.contains(stat.ppid()))
            .min(
                Comparator.comparing((ProcessStat stat) -> !isFirstInItsNamespace(stat.pid()))
                    .thenComparing(stat -> depth(stat.pid()))
                    .thenComparing(ProcessStat::startTime));
    if (init.isEmpty()) {
      return refused(id, "wanted one that runs on this node, found none");
    }
    return found(id, init.get().id(), workload(init.get().id()), true);
  }

  private Resolution byProcess(ProcessId process) {
    if (!proc.alive(process)) {
      return refused(ContainerName.plain(process), "wanted a running process, found none");
    }
    return found(ContainerName.plain(process), process, process, false);
  }

  private Resolution found(String id, ProcessId init, ProcessId root, boolean owns) {
    int pid = root.pid();
    Optional<ProcessStatus> status = proc.status(pid);
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
            proc.mounts(pid),
            proc.namespaces(pid),
            new OutsidePipes(proc).of(root),
            proc.mounts(pid).stream()
                .filter(mount -> "/".equals(mount.mountPoint()))
                .reduce((first, second) -> second)
                .flatMap(OverlayLayers::of),
            status.map(s -> s.uids().real()).orElse(0),
            status.map(s -> s.gids().real()).orElse(0));
    // Looked at last: all of the above was read of this process, or of none.
    return proc.alive(root) && proc.alive(init)
        ? new Resolution.Found(container)
        : refused(id, "wanted one that runs on this node, found that it has just ended");
  }

  /**
   * The container's own cgroups: those that bear its id. A process may have made cgroups of its own
   * below them, and may lie outside of them in a hierarchy (it is being moved, or was never put
   * there): such a cgroup is others' too, and counting it would make all of them the container's.
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

  /** Below a holder, the process that is the first of a pid namespace nested in the holder's. */
  private ProcessId workload(ProcessId init) {
    List<String> command = proc.cmdline(init.pid());
    boolean holder =
        command.size() > 1
            && command.get(0).replaceFirst(".*/", "").equals("stasis-runtime")
            && command.get(1).equals("init");
    if (!holder) {
      return init;
    }
    return proc.children(init.pid()).stream()
        .filter(
            child -> depth(child.pid()) > depth(init.pid()) && isFirstInItsNamespace(child.pid()))
        .map(ProcessStat::id)
        .findFirst()
        .orElse(init);
  }

  private boolean isFirstInItsNamespace(int pid) {
    return proc.status(pid)
        .filter(status -> status.nsPids().size() > 1)
        .map(status -> status.nsPids().get(status.nsPids().size() - 1) == 1)
        .orElse(false);
  }

  private int depth(int pid) {
    return proc.status(pid).map(status -> status.nsPids().size()).orElse(0);
  }

  private static Resolution refused(String name, String why) {
    return new Resolution.Refused("container " + name + ": " + why);
  }
}
