package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.criu.ImageFault;
import dev.stasis.agent.criu.MountPair;
import dev.stasis.agent.criu.RestoreImages;
import dev.stasis.agent.criu.SeccompFilterReader;
import dev.stasis.agent.criu.SeccompLimit;
import dev.stasis.agent.criu.SeccompProgram;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RightsReader;
import dev.stasis.agent.process.SecurityLabel;
import dev.stasis.agent.process.ThreadRights;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares what is restored with the rights that were admitted for the target pod: the images
 * before criu reads them, the threads once they exist. An artifact contains its own credentials.
 * Its author may have been root on another node, and the pod's template may have been hardened
 * since.
 */
final class RightsCheck {

  /** A sufficient number; a damaged artifact would otherwise fill a status. */
  private static final int MOST = 8;

  /** criu creates none of these for a workload: a thread in another one has left the target's. */
  private static final List<String> NAMESPACES = List.of("user", "cgroup");

  private final ProcFs proc;
  private final RightsReader reader;
  private final int self;
  private final boolean withoutAppArmor;
  private final SeccompFilterReader filters;

  RightsCheck(NodeParts node) {
    this(
        node.proc(),
        (int) ProcessHandle.current().pid(),
        node.restoreWithoutAppArmor(),
        new SeccompFilterReader(node.tools().runtime()));
  }

  /** With another process in place of the agent, which is the parent of criu's processes. */
  RightsCheck(ProcFs proc, int self, boolean withoutAppArmor, SeccompFilterReader filters) {
    this.filters = filters;
    this.proc = proc;
    this.reader = new RightsReader(proc);
    this.self = self;
    this.withoutAppArmor = withoutAppArmor;
  }

  /** Returns what the images have beyond the target's rights; changes nothing. */
  List<FailedRequirement> images(Path criu, Container target, List<MountPair> pairs)
      throws InterruptedException {
    Optional<RightsLimit> limit = limit(target);
    if (limit.isEmpty()) {
      return List.of(gone());
    }
    List<FailedRequirement> unmet = new ArrayList<>();
    RestoreImages images = new RestoreImages(criu);
    SeccompLimit seccomp;
    try {
      seccomp = new SeccompLimit(filters(target, limit.get()));
    } catch (IOException e) {
      String found = String.valueOf(e.getMessage());
      return List.of(
          new FailedRequirement("seccomp filters of the target", "readable filters", found));
    }
    try {
      images.threads(
          thread -> {
            String name = "thread " + thread.tid() + " in the images";
            if (unmet.size() < MOST) {
              List<FailedRequirement> more = limit.get().exceededBy(thread.rights(), name);
              unmet.addAll(more);
              if (more.isEmpty() && !seccomp.allows(thread.filters())) {
                unmet.add(laxer(name));
              }
              if (thread.userNamespace()) {
                unmet.add(
                    new FailedRequirement(
                        "user namespace of " + name, "the target's own", "one of its own"));
              }
            }
          });
      unmet.addAll(new MountLimit(target, pairs, limit.get()).exceededBy(images.mounts()));
    } catch (ImageFault e) {
      unmet.add(new FailedRequirement(e.property(), e.expected(), e.actual()));
    } catch (IOException e) {
      unmet.add(
          new FailedRequirement("criu images", "readable files", String.valueOf(e.getMessage())));
    }
    return unmet.subList(0, Math.min(MOST, unmet.size()));
  }

  /** An agent with its own filter cannot read any: then they are only counted. */
  private List<SeccompProgram> filters(Container target, RightsLimit limit)
      throws IOException, InterruptedException {
    return limit.inherited() > 0 || limit.holder().seccomp() != ThreadRights.SECCOMP_FILTER
        ? List.of()
        : filters.read(target.init());
  }

  /**
   * Returns the label of a container that restored processes cannot get: they are criu's children
   * and have the agent's label, and only an AppArmor profile can be applied to them, by an agent
   * without one.
   */
  Optional<FailedRequirement> label(int holder) {
    Optional<SecurityLabel> given = reader.label(self);
    return foreign(holder)
        .filter(label -> !label.apparmor() || !given.map(SecurityLabel::isUnconfined).orElse(false))
        .map(
            label ->
                new FailedRequirement(
                    label.property() + " of the target",
                    "that of the agent, which applies to restored processes: " + text(given),
                    label.text()));
  }

  /** Returns the AppArmor profile that criu must apply; empty if the agent has the same. */
  Optional<String> profile(int holder) {
    return foreign(holder).filter(SecurityLabel::apparmor).map(SecurityLabel::profile);
  }

  /**
   * Returns the label of a thread that differs from that of the root: a restore applies the same
   * one to all.
   */
  Optional<String> labelBeside(int root, List<Integer> pids) {
    Optional<SecurityLabel> required = required(root);
    if (required.isEmpty()) {
      return Optional.empty();
    }
    return pids.stream()
        .flatMap(pid -> reader.labels(pid).stream())
        .filter(label -> !label.equals(required.get()))
        .map(label -> label.text() + " beside " + text(required))
        .findFirst();
  }

  private Optional<SecurityLabel> foreign(int holder) {
    Optional<SecurityLabel> given = reader.label(self);
    return required(holder).filter(label -> !given.equals(Optional.of(label)));
  }

  /**
   * Checks that existing threads have no more rights than the target.
   *
   * @param stopped whether they were just restored and have not run yet: then they must also have
   *     the target's label and filters, and be traced by no other process
   */
  void threads(List<ProcessId> processes, Container target, boolean stopped)
      throws StepFailure, InterruptedException {
    RightsLimit limit =
        limit(target).orElseThrow(() -> new StepFailure(Reason.NOT_PROVEN, String.valueOf(gone())));
    List<FailedRequirement> unmet = new ArrayList<>();
    if (stopped) {
      laxerFilter(processes, target, limit).ifPresent(unmet::add);
    }
    for (ProcessId process : processes) {
      for (ThreadRights thread : reader.threads(process.pid())) {
        String name = "thread %d of process %s".formatted(thread.tid(), process);
        unmet.addAll(limit.exceededBy(thread, name));
        if (stopped) {
          unmet.addAll(whileStopped(process.pid(), thread, name, target.init().pid()));
        }
        if (!unmet.isEmpty()) {
          throw new StepFailure(Reason.NOT_PROVEN, unmet.get(0).toString());
        }
      }
    }
  }

  /**
   * The images were compared before; on a shared store another node may have changed them since.
   */
  private Optional<FailedRequirement> laxerFilter(
      List<ProcessId> processes, Container target, RightsLimit limit) throws InterruptedException {
    try {
      List<SeccompProgram> targets = filters(target, limit);
      if (targets.isEmpty()) {
        return Optional.empty();
      }
      SeccompLimit seccomp = new SeccompLimit(targets);
      for (ProcessId process : processes) {
        for (Map.Entry<String, List<SeccompProgram>> one : threads(process).entrySet()) {
          if (!seccomp.allows(one.getValue())) {
            String name = one.getKey() + " of process " + process;
            return Optional.of(laxer(name));
          }
        }
      }
      return Optional.empty();
    } catch (IOException e) {
      String found = String.valueOf(e.getMessage());
      return Optional.of(
          new FailedRequirement("seccomp filters of restored threads", "readable ones", found));
    }
  }

  /** Returns no thread of a process that has ended, such as a helper of criu. */
  private Map<String, List<SeccompProgram>> threads(ProcessId process)
      throws IOException, InterruptedException {
    try {
      return filters.threads(process);
    } catch (IOException e) {
      if (proc.alive(process)) {
        throw e;
      }
      return Map.of();
    }
  }

  private static FailedRequirement laxer(String thread) {
    return new FailedRequirement(
        "seccomp filters of " + thread,
        "one that allows at most what each of the target allows",
        "others");
  }

  private List<FailedRequirement> whileStopped(
      int pid, ThreadRights thread, String name, int holder) {
    List<FailedRequirement> unmet = new ArrayList<>();
    Optional<SecurityLabel> wanted = required(holder);
    Optional<SecurityLabel> found = reader.label(pid, thread.tid());
    if (wanted.isPresent() && !found.equals(wanted)) {
      unmet.add(
          new FailedRequirement(
              wanted.get().property() + " of " + name, text(wanted), text(found)));
    }
    if (thread.tracerPid() != 0) {
      unmet.add(
          new FailedRequirement("tracer of " + name, "none", "process " + thread.tracerPid()));
    }
    for (String namespace : NAMESPACES) {
      Optional<String> own = proc.link(pid, "ns/" + namespace);
      Optional<String> targets = proc.link(holder, "ns/" + namespace);
      if (!own.equals(targets)) {
        unmet.add(
            new FailedRequirement(
                namespace + " namespace of " + name, targets.orElse("one"), own.orElse("none")));
      }
    }
    return unmet;
  }

  /** Returns the label that restored threads must have. */
  private Optional<SecurityLabel> required(int holder) {
    return reader.label(holder).filter(label -> !(label.apparmor() && withoutAppArmor));
  }

  private Optional<RightsLimit> limit(Container target) {
    int inherited = reader.of(self).map(ThreadRights::seccompFilters).orElse(0);
    return reader
        .of(target.init().pid())
        .map(holder -> new RightsLimit(holder, inherited, reader.knownCapabilities()));
  }

  private static String text(Optional<SecurityLabel> label) {
    return label.map(SecurityLabel::text).orElse("none");
  }

  private static FailedRequirement gone() {
    return new FailedRequirement("target container", "a waiting holder", "none");
  }
}
