package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.criu.ImageFault;
import dev.stasis.agent.criu.MountPair;
import dev.stasis.agent.criu.RestoreImages;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RightsReader;
import dev.stasis.agent.process.SecurityLabel;
import dev.stasis.agent.process.ThreadRights;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Holds what is restored against what the target's pod was admitted with: the images before criu
 * reads them, the threads once they are there. An artifact names its own credentials. Its author
 * may have been root on another node, and the pod's template may have been hardened since.
 */
final class RightsCheck {

  /** So many say enough; a damaged artifact would fill a status. */
  private static final int MOST = 8;

  /** criu makes none of these for a workload: one in another one has left the target's. */
  private static final List<String> NAMESPACES = List.of("user", "cgroup");

  private final ProcFs proc;
  private final RightsReader reader;
  private final int self;
  private final boolean withoutAppArmor;

  RightsCheck(NodeParts node) {
    this(node.proc(), (int) ProcessHandle.current().pid(), node.restoreWithoutAppArmor());
  }

  /** With another process in the place of the agent, whose children criu's processes are. */
  RightsCheck(ProcFs proc, int self, boolean withoutAppArmor) {
    this.proc = proc;
    this.reader = new RightsReader(proc);
    this.self = self;
    this.withoutAppArmor = withoutAppArmor;
  }

  /** What of the images exceeds the target; touches nothing. */
  List<Unmet> images(Path criu, Container target, List<MountPair> pairs) {
    Optional<RightsLimit> limit = limit(target);
    if (limit.isEmpty()) {
      return List.of(gone());
    }
    List<Unmet> unmet = new ArrayList<>();
    RestoreImages images = new RestoreImages(criu);
    try {
      images.threads(
          thread -> {
            String name = "thread " + thread.tid() + " in the images";
            if (unmet.size() < MOST) {
              unmet.addAll(limit.get().exceededBy(thread.rights(), name));
              if (thread.userNamespace()) {
                unmet.add(
                    new Unmet("user namespace of " + name, "the target's own", "one of its own"));
              }
            }
          });
      unmet.addAll(new MountLimit(target, pairs, limit.get()).exceededBy(images.mounts()));
    } catch (ImageFault e) {
      unmet.add(new Unmet(e.property(), e.expected(), e.actual()));
    } catch (IOException e) {
      unmet.add(new Unmet("criu images", "files that can be read", String.valueOf(e.getMessage())));
    }
    return unmet.subList(0, Math.min(MOST, unmet.size()));
  }

  /** What criu cannot give: it has no part of AppArmor or SELinux, and its children its label. */
  Optional<Unmet> label(int holder) {
    Optional<SecurityLabel> wanted = required(holder);
    Optional<SecurityLabel> given = reader.label(self);
    return wanted
        .filter(label -> !wanted.equals(given))
        .map(
            label ->
                new Unmet(
                    label.property() + " of the target",
                    "that of the agent, which restored processes get: " + text(given),
                    label.text()));
  }

  /**
   * Whether threads that are there have no more than the target.
   *
   * @param stopped whether they were restored a moment ago and have not run yet: then they also
   *     have the target's label, and are traced by no other process
   */
  void threads(List<ProcessId> processes, Container target, boolean stopped) throws StepFailure {
    RightsLimit limit =
        limit(target).orElseThrow(() -> new StepFailure(Reason.NOT_PROVEN, String.valueOf(gone())));
    List<Unmet> unmet = new ArrayList<>();
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

  private List<Unmet> whileStopped(int pid, ThreadRights thread, String name, int holder) {
    List<Unmet> unmet = new ArrayList<>();
    Optional<SecurityLabel> wanted = required(holder);
    Optional<SecurityLabel> found = reader.label(pid, thread.tid());
    if (wanted.isPresent() && !found.equals(wanted)) {
      unmet.add(new Unmet(wanted.get().property() + " of " + name, text(wanted), text(found)));
    }
    if (thread.tracerPid() != 0) {
      unmet.add(new Unmet("tracer of " + name, "none", "process " + thread.tracerPid()));
    }
    for (String namespace : NAMESPACES) {
      Optional<String> own = proc.link(pid, "ns/" + namespace);
      Optional<String> targets = proc.link(holder, "ns/" + namespace);
      if (!own.equals(targets)) {
        unmet.add(
            new Unmet(
                namespace + " namespace of " + name, targets.orElse("one"), own.orElse("none")));
      }
    }
    return unmet;
  }

  /** The label that what is restored must have. */
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

  private static Unmet gone() {
    return new Unmet("target container", "a holder that waits", "none");
  }
}
