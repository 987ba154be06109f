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
import java.util.ArrayList;
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

  /** A holder keeps its name; the processes below it were restored, as root's, whoever they are. */
  private static final String HOLDER = "stasis-runtime";

  private final ProcFs proc;

  InotifyRoom(ProcFs proc) {
    this.proc = proc;
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
    Map<Integer, Map<Integer, String>> instances = new HashMap<>();
    for (ProcessStat process : processes) {
      if (!process.isKernelThread() && (restored.contains(process.pid()) || isRoot(process))) {
        instances.put(process.pid(), instances(process.pid()));
      }
    }
    long count = 0;
    long watches = 0;
    for (ProcessStat process : processes) {
      Map<Integer, String> inherited = instances.getOrDefault(process.ppid(), Map.of());
      for (Map.Entry<Integer, String> instance :
          instances.getOrDefault(process.pid(), Map.of()).entrySet()) {
        // A fork shares the instances of its parent, which the kernel counts once.
        if (!instance.getValue().equals(inherited.get(instance.getKey()))) {
          count++;
          watches += Watches.count(instance.getValue());
        }
      }
    }
    return new ImageWatches(count, watches);
  }

  private static Set<Integer> restored(List<ProcessStat> processes) {
    Set<Integer> below = new HashSet<>();
    Map<Integer, List<ProcessStat>> children = new HashMap<>();
    processes.forEach(
        one -> children.computeIfAbsent(one.ppid(), parent -> new ArrayList<>()).add(one));
    List<ProcessStat> todo =
        new ArrayList<>(processes.stream().filter(one -> one.comm().equals(HOLDER)).toList());
    while (!todo.isEmpty()) {
      ProcessStat next = todo.remove(todo.size() - 1);
      if (below.add(next.pid())) {
        todo.addAll(children.getOrDefault(next.pid(), List.of()));
      }
    }
    return below;
  }

  private boolean isRoot(ProcessStat process) {
    return proc.status(process.pid()).filter(status -> status.uids().effective() == 0).isPresent();
  }

  /** Reads what the kernel shows of each instance, by descriptor. */
  private Map<Integer, String> instances(int pid) {
    Map<Integer, String> instances = new HashMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(proc.folder(pid).resolve("fd"))) {
      for (Path file : files) {
        String fd = file.getFileName().toString();
        if (proc.link(pid, "fd/" + fd).filter(Watches.TARGET::equals).isPresent()) {
          instances.put(Integer.parseInt(fd), proc.fileInfo(pid, Integer.parseInt(fd)));
        }
      }
    } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
      // The process has ended, or a security module hides it from the agent: it is not counted.
    }
    return instances;
  }
}
