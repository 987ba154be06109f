package dev.stasis.agent.preflight;

import dev.stasis.agent.process.Mount;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The mounts of a container that neither its pod nor the GPU driver explains: those that only the
 * container runtime of its node makes, and folders that the workload has mounted a second time.
 *
 * @param paths their paths in the container
 */
public record RuntimeMounts(Set<String> paths) {

  /** The places where every runtime mounts something. */
  private static final Pattern EVERYWHERE =
      Pattern.compile("/|/(proc|sys|dev)(/.*)?|/etc/(hostname|hosts|resolv\\.conf)");

  /** Programs, libraries, firmware and settings of the driver; a fingerprint has its version. */
  private static final Pattern DRIVER = Pattern.compile(".*nvidia.*|.*/lib(cuda|nccl|nv)[^/]*");

  /** A VOLUME of the image, as containerd mounts it: the target has the same image. */
  private static final Pattern OF_THE_IMAGE =
      Pattern.compile(".*/containers/[0-9a-f]{64}/volumes/[^/]+");

  public RuntimeMounts {
    paths = Set.copyOf(paths);
  }

  /**
   * Finds them.
   *
   * @param known the mount points of the pod
   */
  public static RuntimeMounts of(Collection<Mount> mounts, Collection<String> known) {
    Set<String> paths = new TreeSet<>();
    for (Mount mount : mounts) {
      String path = mount.mountPoint();
      // Whole file systems are foreign mounts, and deleted folders a kind of mount that is refused.
      if (!mount.root().equals("/")
          && !mount.root().endsWith("//deleted")
          && !EVERYWHERE.matcher(path).matches()
          && !DRIVER.matcher(path).matches()
          && !OF_THE_IMAGE.matcher(mount.root()).matches()
          && !isOf(path, known)) {
        paths.add(path);
      }
    }
    return new RuntimeMounts(paths);
  }

  /**
   * Only the last name is compared, because the path may contain a link. Mounts below a volume came
   * with it: a host folder includes the file systems mounted in it.
   */
  static boolean isOf(String path, Collection<String> known) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return known.stream()
        .map(one -> one.replaceFirst("/+$", ""))
        .anyMatch(one -> one.endsWith("/" + name) || path.startsWith(one + "/"));
  }
}
