package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.RuntimeMounts;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.preflight.Surroundings;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ThreadSettings;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Determines the requirements for another pod's node that follow from a workload's activity:
 * properties of its own node that most workloads do not need.
 */
final class NodeNeeds {

  /** A node that its administrator restricted further is not considered. */
  private static final long USUAL_MAX_MAP_COUNT = 65_530;

  private static final long USUAL_PID_MAX = 32_768;

  /** The lowest limit that distributions set. */
  private static final long USUAL_POD_PIDS = 1_024;

  private static final long USUAL_INOTIFY_INSTANCES = 128;

  private static final long USUAL_INOTIFY_WATCHES = 8_192;

  private final ProcFs proc;

  NodeNeeds(ProcFs proc) {
    this.proc = proc;
  }

  Fingerprint of(List<Subject.Member> members, List<Mount> mounts) {
    Fingerprint needs = features(members).and(new HiddenFolders().hidden(mounts));
    long mappings = 0;
    long highest = 0;
    long tasks = 0;
    for (Subject.Member member : members) {
      int pid = member.id().pid();
      mappings = Math.max(mappings, proc.maps(pid).size());
      for (ThreadSettings thread : proc.threadSettings(pid)) {
        highest = Math.max(highest, thread.ownTid());
        tasks++;
      }
    }
    // It may start some more until it is frozen, and the pod has a few besides.
    tasks += tasks / 10 + 16;
    if (tasks > USUAL_POD_PIDS) {
      needs = needs.with(Property.POD_PIDS, Long.toString(tasks));
    }
    // It may map some more until it is frozen, and so does criu.
    mappings += mappings / 10;
    if (mappings > USUAL_MAX_MAP_COUNT) {
      needs = needs.with(Property.MAX_MAP_COUNT, Long.toString(mappings));
    }
    if (highest >= USUAL_PID_MAX) {
      // The limits of nodes are powers of two, and ids may grow before the freeze.
      needs = needs.with(Property.PID_MAX, Long.toString(Long.highestOneBit(highest) << 1));
    }
    return needs;
  }

  /** Returns what a workload uses that a kernel may have turned off, as a quick look shows. */
  static Fingerprint features(List<Subject.Member> members) {
    Fingerprint needs = Fingerprint.empty();
    long instances = 0;
    long watches = 0;
    for (Subject.Member member : members) {
      if (!member.rings().isEmpty()) {
        needs = needs.with(Property.IO_URING, "yes");
      }
      if (Stream.concat(
              member.mappedFiles().stream(), member.files().stream().map(OpenFile::target))
          .anyMatch(NodeNeeds::isSharedMemory)) {
        needs = needs.with(Property.MEMFD_EXEC, "yes");
      }
      instances +=
          member.files().stream().filter(file -> file.target().equals(Watches.TARGET)).count();
      watches += member.watches().size();
    }
    // Twice the number: the kernel counts all pods of a user together.
    if (2 * instances > USUAL_INOTIFY_INSTANCES) {
      needs = needs.with(Property.INOTIFY_INSTANCES, Long.toString(2 * instances));
    }
    if (2 * watches > USUAL_INOTIFY_WATCHES) {
      needs = needs.with(Property.INOTIFY_WATCHES, Long.toString(2 * watches));
    }
    return needs;
  }

  /** Returns the mounts that the container runtime of the target has to make too. */
  static Fingerprint mounts(Surroundings around) {
    if (around.podMounts() == null) {
      return Fingerprint.empty();
    }
    Set<String> made =
        new TreeSet<>(RuntimeMounts.of(around.mounts(), around.podMounts().keySet()).paths());
    made.retainAll(around.nodeMounts());
    return made.isEmpty()
        ? Fingerprint.empty()
        : Fingerprint.empty().with(Property.RUNTIME_MOUNTS, List.copyOf(made));
  }

  /** Without a name in a file system, as the kernel shows it. */
  private static boolean isSharedMemory(String file) {
    return file.startsWith("/memfd:") || file.equals("/dev/zero (deleted)");
  }

  /** Reduces the properties to those that the workload needs. */
  static Fingerprint wanted(Fingerprint place, Fingerprint needs) {
    return place
        .without(Property.HIDDEN_FOLDERS)
        .without(Property.INOTIFY_INSTANCES)
        .without(Property.INOTIFY_WATCHES)
        .without(Property.IO_URING)
        .without(Property.MEMFD_EXEC)
        .without(Property.MAX_MAP_COUNT)
        .without(Property.PID_MAX)
        .without(Property.POD_PIDS)
        .without(Property.RUNTIME_MOUNTS)
        .without(Property.THROTTLED_CPUS)
        .and(needs);
  }
}
