package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.criu.ImageMount;
import dev.stasis.agent.criu.MountPair;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.Capabilities;
import dev.stasis.agent.process.Mount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The mounts that criu may create for a workload: the target's own, the root, and /proc with the
 * same read-only parts as in the target. criu would create any other mount as root of the host: a
 * writable /sys, or a /proc with writable sysctls. A pod with CAP_SYS_ADMIN can do that itself.
 */
final class MountLimit {

  /**
   * Parts of /proc by which root changes the node. Every container runtime makes these read-only;
   * others differ between runtimes, and GPUs have some that are named after their slot.
   */
  private static final Set<String> WRITABLE =
      Set.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

  private final Container target;
  private final List<MountPair> pairs;
  private final RightsLimit limit;

  MountLimit(Container target, List<MountPair> pairs, RightsLimit limit) {
    this.target = target;
    this.pairs = List.copyOf(pairs);
    this.limit = limit;
  }

  List<FailedRequirement> exceededBy(List<ImageMount> mounts) {
    if (limit.holder().capabilities().allow(Capabilities.SYS_ADMIN)) {
      return List.of();
    }
    List<FailedRequirement> unmet = new ArrayList<>();
    Map<String, Mount> pairedWith = paired();
    Set<String> sources = pairs.stream().map(MountPair::source).collect(Collectors.toSet());
    Set<Integer> proc = new HashSet<>();
    mounts.stream().filter(ImageMount::proc).forEach(mount -> proc.add(mount.id()));
    Set<String> once = new HashSet<>();
    Set<String> readOnly = new HashSet<>();
    for (ImageMount mount : mounts) {
      String name = "mount " + mount.path() + " in the images";
      if (!mount.external().isEmpty()) {
        // criu takes keys of its own too, and makes a new mount for them.
        if (!sources.contains(mount.external())) {
          unmet.add(new FailedRequirement(name, "one of the target's", "one of another kind"));
        }
        Mount found = pairedWith.get(mount.external());
        if (found != null && isOnlyHereReadOnly(found) && !mount.readOnly()) {
          unmet.add(new FailedRequirement(name, "read-only, as in the target", "writable"));
        }
      } else if (mount.path().equals("/") || mount.proc() && mount.path().equals("/proc")) {
        if (!once.add(mount.path())) {
          unmet.add(new FailedRequirement(name, "one", "more"));
        }
      } else if (isPartOfProc(mount)) {
        // Below another mount, /proc would hide it.
        if (mount.readOnly() && proc.contains(mount.parent())) {
          readOnly.add(mount.path());
        }
      } else {
        unmet.add(new FailedRequirement(name, "one of the target's", "a separate one"));
      }
    }
    if (once.contains("/proc")) {
      missing(readOnly, unmet);
    }
    return unmet;
  }

  /**
   * A read-only part, or a /proc that the target has at the same path, for example as a hostPath.
   */
  private boolean isPartOfProc(ImageMount mount) {
    return mount.proc()
        && (mount.readOnly() && mount.path().startsWith("/proc/")
            || target.mounts().stream()
                .filter(other -> other.type().equals("proc"))
                .filter(other -> other.mountPoint().equals(mount.path()))
                .anyMatch(other -> mount.readOnly() || !other.isReadOnly()));
  }

  private void missing(Set<String> readOnly, List<FailedRequirement> unmet) {
    target.mounts().stream()
        .filter(mount -> mount.type().equals("proc") && mount.isReadOnly())
        .map(Mount::mountPoint)
        .filter(path -> WRITABLE.contains(path) && !readOnly.contains(path))
        .forEach(
            path ->
                unmet.add(
                    new FailedRequirement(
                        "mount " + path + " in the images",
                        "read-only, as in the target",
                        "none")));
  }

  /** Returns the target's mount for a path of the source. */
  private Map<String, Mount> paired() {
    Map<String, Mount> byPath = new HashMap<>();
    target.mounts().forEach(mount -> byPath.put(mount.mountPoint(), mount));
    Map<String, Mount> paired = new HashMap<>();
    for (MountPair pair : pairs) {
      Mount mount = byPath.get(pair.target());
      if (mount != null) {
        paired.put(pair.source(), mount);
      }
    }
    return paired;
  }

  /** A read-only file system stays read-only, even under a writable mount. */
  private static boolean isOnlyHereReadOnly(Mount mount) {
    return mount.options().contains("ro") && !mount.superOptions().contains("ro");
  }
}
