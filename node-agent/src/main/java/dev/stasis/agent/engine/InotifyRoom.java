package dev.stasis.agent.engine;

import dev.stasis.agent.criu.ImageWatches;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.compat.Property;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Determines whether this node has inotify instances and watches left for a restore. criu creates
 * them as root, and the kernel limits all of root's on a node together.
 */
final class InotifyRoom {

  /** A holder keeps its name. */
  private static final String HOLDER = "stasis-runtime";

  /** Of all processes together; the rest is not counted, and criu reports that root has no more. */
  private static final int MOST_INSTANCES = 200_000;

  private static final int MOST_WATCHES = 4_000_000;

  /** Any large odd number. */
  private static final long HASH = 1_000_003;

  private final ProcFs proc;
  private final HostUserNamespace host;
  private int watchesLeft = MOST_WATCHES;

  InotifyRoom(ProcFs proc) {
    this.proc = proc;
    this.host = new HostUserNamespace(proc);
  }

  List<FailedRequirement> missing(ImageWatches needed) throws IOException {
    if (needed.instances() == 0) {
      return List.of();
    }
    ImageWatches used = usedByRoot();
    List<FailedRequirement> unmet = new ArrayList<>();
    compare(Property.INOTIFY_INSTANCES, "max_user_instances", needed.instances(), used.instances())
        .ifPresent(unmet::add);
    compare(Property.INOTIFY_WATCHES, "max_user_watches", needed.watches(), used.watches())
        .ifPresent(unmet::add);
    return unmet;
  }

  private Optional<FailedRequirement> compare(
      Property property, String setting, long needed, long used) throws IOException {
    long limit = Long.parseLong(proc.setting("sys/fs/inotify/" + setting));
    return used + needed <= limit
        ? Optional.empty()
        : Optional.of(
            new FailedRequirement(
                property.key(),
                "%d left of fs.inotify.%s".formatted(needed, setting),
                "%d: root has %d of %d".formatted(Math.max(0, limit - used), used, limit)));
  }

  private ImageWatches usedByRoot() {
    List<ProcessStat> processes = proc.processes();
    Set<Integer> restored = restored(processes);
    Map<Integer, Map<Long, Long>> instances = new HashMap<>();
    int left = MOST_INSTANCES;
    for (ProcessStat process : processes) {
      int pid = process.pid();
      if (left > 0 && !process.isKernelThread() && (restored.contains(pid) || isRoot(process))) {
        Map<Long, Long> own = instances(pid, left);
        left -= own.size();
        instances.put(pid, own);
      }
    }
    long count = 0;
    long watches = 0;
    for (ProcessStat process : processes) {
      Map<Long, Long> inherited = instances.getOrDefault(process.ppid(), Map.of());
      for (Map.Entry<Long, Long> instance :
          instances.getOrDefault(process.pid(), Map.of()).entrySet()) {
        // A fork shares the instances of its parent, which the kernel counts once.
        if (!inherited.containsKey(instance.getKey())) {
          count++;
          watches += instance.getValue();
        }
      }
    }
    return new ImageWatches(count, watches);
  }

  /**
   * Returns the restored processes. Their instances count as root's for any user. criu restores
   * them below the holder in a pid namespace of their own, which is nested in that of the holder
   * but not in a user namespace. Only root of the node can create one: a program of another pod can
   * give itself the name of a holder, but has no such processes.
   */
  private Set<Integer> restored(List<ProcessStat> processes) {
    Map<Integer, List<ProcessStat>> children = new HashMap<>();
    processes.forEach(
        one -> children.computeIfAbsent(one.ppid(), parent -> new ArrayList<>()).add(one));
    Set<Integer> seen = new HashSet<>();
    Set<Integer> restored = new HashSet<>();
    for (ProcessStat holder : processes) {
      if (holder.comm().equals(HOLDER) && seen.add(holder.pid())) {
        int depth = depth(holder.pid());
        Deque<ProcessStat> pending = new ArrayDeque<>(List.of(holder));
        while (!pending.isEmpty()) {
          for (ProcessStat child : children.getOrDefault(pending.pop().pid(), List.of())) {
            if (seen.add(child.pid())) {
              pending.push(child);
              if (depth(child.pid()) > depth && host.has(child.pid())) {
                restored.add(child.pid());
              }
            }
          }
        }
      }
    }
    return restored;
  }

  private int depth(int pid) {
    return proc.status(pid).map(status -> status.nsPids().size()).orElse(0);
  }

  private boolean isRoot(ProcessStat process) {
    return proc.status(process.pid()).filter(status -> status.uids().effective() == 0).isPresent();
  }

  /**
   * Returns the number of watches of each instance. The kernel shows no identity of an instance:
   * descriptors of a process that show the same watches are taken for duplicates of one.
   */
  private Map<Long, Long> instances(int pid, int most) {
    Map<Long, Long> instances = new HashMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(proc.folder(pid).resolve("fd"))) {
      for (Path file : files) {
        String fd = file.getFileName().toString();
        if (proc.link(pid, "fd/" + fd).filter(Watches.TARGET::equals).isPresent()
            && instances.size() < most) {
          add(pid, Integer.parseInt(fd), instances);
        }
      }
    } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
      // The process has ended, or a security module hides it from the agent: it is not counted.
    }
    return instances;
  }

  private void add(int pid, int fd, Map<Long, Long> instances) {
    long[] seen = {1, 0};
    proc.fileInfo(
        pid,
        fd,
        line -> {
          if (line.startsWith("inotify ")) {
            seen[0] = HASH * seen[0] + line.hashCode();
            seen[1]++;
          }
          return --watchesLeft > 0;
        });
    instances.put(seen[0], seen[1]);
  }
}
