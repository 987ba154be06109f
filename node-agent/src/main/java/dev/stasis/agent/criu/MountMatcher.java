package dev.stasis.agent.criu;

import dev.stasis.agent.process.Mount;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds for every mount of the source its counterpart in the target: the mount at the same path;
 * for NVIDIA's hook folder, which has another name in every container, the one of the same kind;
 * for a GPU that is a file, the one at the same position; for a masked file the target's /dev/null,
 * and for a masked folder another masked folder of the target.
 */
public final class MountMatcher {

  private static final Pattern HOOK_FOLDER =
      Pattern.compile("/run/nvidia-ctk-hook/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private static final Pattern GPU_FILE = Pattern.compile("/dev/nvidia[0-9]{1,4}");

  /** A driver version in the path of one of its libraries or of its firmware. */
  private static final Pattern DRIVER =
      Pattern.compile("(.*/(?:lib[^/]*\\.so\\.|firmware/nvidia/))([0-9]{3}(?:\\.[0-9]+)+)(/.*)?");

  public MountMatch match(List<Mount> source, List<Mount> target) {
    Map<String, Mount> have = visible(target);
    Map<String, Mount> gpus = gpuFiles(visible(source), have);
    List<MountPair> pairs = new ArrayList<>();
    Set<MountMatch.Reason> reasons = new LinkedHashSet<>();
    Optional<Mount> mask = have.values().stream().filter(MountMatcher::isMaskedFolder).findFirst();
    for (Mount wanted : visible(source).values()) {
      if (!ExternalMounts.isExternal(wanted)) {
        continue;
      }
      if (!isPlain(wanted.mountPoint())) {
        reasons.add(
            new MountMatch.Reason(
                "mount " + wanted.mountPoint(), "an absolute path without \"]\"", "another one"));
        continue;
      }
      Optional<Mount> found =
          Optional.ofNullable(gpus.get(wanted.mountPoint())).or(() -> find(wanted, have));
      if (found.isPresent()) {
        pairs.add(new MountPair(wanted.mountPoint(), found.get().mountPoint()));
        readOnly(wanted, found.get()).ifPresent(reasons::add);
      } else if (isMaskedFile(wanted) && have.containsKey("/dev")) {
        pairs.add(new MountPair(wanted.mountPoint(), "/dev/null"));
      } else if (isMaskedFolder(wanted) && mask.isPresent()) {
        pairs.add(new MountPair(wanted.mountPoint(), mask.get().mountPoint()));
      } else {
        reasons.add(missing(wanted, have));
      }
    }
    return reasons.isEmpty()
        ? new MountMatch.Matched(pairs)
        : new MountMatch.Refused(List.copyOf(reasons));
  }

  /** It becomes part of an option of criu, which ends the path at a bracket. */
  private static boolean isPlain(String path) {
    return path.startsWith("/") && !path.contains("]");
  }

  private static Optional<Mount> find(Mount wanted, Map<String, Mount> have) {
    Mount same = have.get(wanted.mountPoint());
    if (same != null) {
      return Optional.of(same);
    }
    if (isHookFolder(wanted)) {
      return have.values().stream().filter(MountMatcher::isHookFolder).findFirst();
    }
    return Optional.empty();
  }

  /**
   * A GPU that is a regular file instead of a device node keeps its position, whatever its number
   * is. A bound device node does not: its name must match its minor number.
   */
  private static Map<String, Mount> gpuFiles(Map<String, Mount> source, Map<String, Mount> target) {
    List<Mount> from = gpuFiles(source);
    List<Mount> to = gpuFiles(target);
    Map<String, Mount> pairs = new LinkedHashMap<>();
    for (int i = 0; i < Math.min(from.size(), to.size()); i++) {
      pairs.put(from.get(i).mountPoint(), to.get(i));
    }
    return pairs;
  }

  private static List<Mount> gpuFiles(Map<String, Mount> mounts) {
    return mounts.values().stream()
        .filter(mount -> GPU_FILE.matcher(mount.mountPoint()).matches())
        .filter(mount -> !"devtmpfs".equals(mount.type()))
        .sorted(Comparator.comparingInt(MountMatcher::number))
        .toList();
  }

  private static int number(Mount gpu) {
    return Integer.parseInt(gpu.mountPoint().substring("/dev/nvidia".length()));
  }

  private static boolean isHookFolder(Mount mount) {
    return HOOK_FOLDER.matcher(mount.mountPoint()).matches() && "tmpfs".equals(mount.type());
  }

  /** Runtimes hide a file below /proc by mounting /dev/null on it. */
  private static boolean isMaskedFile(Mount mount) {
    return mount.mountPoint().startsWith("/proc/") && "/null".equals(mount.root());
  }

  /** They hide a folder by an empty one. The set depends on the versions of runtime and kubelet. */
  private static boolean isMaskedFolder(Mount mount) {
    return mount.mountPoint().matches("/(proc|sys)/.*")
        && mount.type().equals("tmpfs")
        && mount.root().equals("/")
        && mount.isReadOnly();
  }

  private static Optional<MountMatch.Reason> readOnly(Mount wanted, Mount found) {
    return found.isReadOnly() && !wanted.isReadOnly()
        ? Optional.of(
            new MountMatch.Reason("mount " + wanted.mountPoint(), "writable", "read-only"))
        : Optional.empty();
  }

  private static MountMatch.Reason missing(Mount wanted, Map<String, Mount> have) {
    Matcher driver = DRIVER.matcher(wanted.mountPoint());
    if (!driver.matches()) {
      String kind =
          wanted.type() + (wanted.source().startsWith("/") ? " from " + wanted.source() : "");
      return new MountMatch.Reason("mount " + wanted.mountPoint(), kind, "none");
    }
    // Any library of the driver shows the target's version; drivers differ in their set of
    // libraries.
    String other =
        have.values().stream()
            .map(mount -> DRIVER.matcher(mount.mountPoint()))
            .filter(Matcher::matches)
            .map(matcher -> matcher.group(2))
            .findFirst()
            .orElse("none");
    if (other.equals(driver.group(2))) {
      return new MountMatch.Reason("mount " + wanted.mountPoint(), wanted.type(), "none");
    }
    return new MountMatch.Reason("NVIDIA driver", driver.group(2), other);
  }

  /** By path; only the last of several mounts on a path is visible. */
  private static Map<String, Mount> visible(List<Mount> mounts) {
    Map<String, Mount> byPath = new LinkedHashMap<>();
    mounts.forEach(mount -> byPath.put(mount.mountPoint(), mount));
    return byPath;
  }
}
