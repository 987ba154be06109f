package dev.stasis.agent.preflight;

import dev.stasis.agent.process.Mount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Mounts that another container cannot have: made inside or by the runtime of this node only, or of
 * a kind with another end that stays behind; and volumes that are mounted twice.
 */
final class MountCheck implements Check {

  private static final Set<String> NEVER = Set.of("nsfs", "autofs", "rpc_pipefs", "binder");

  /** The places where runtimes mount file systems themselves. */
  private static final Pattern OF_THE_RUNTIME =
      Pattern.compile("/|/(proc|sys|run/nvidia-ctk-hook)(/.*)?|/dev(/(pts|shm|mqueue|hugepages))?");

  @Override
  public List<FailedRequirement> unmet(Subject subject) {
    List<FailedRequirement> unmet = new ArrayList<>();
    for (Mount mount : subject.around().mounts()) {
      boolean root = mount.mountPoint().equals("/");
      boolean overlayInside = mount.type().equals("overlay") && !root;
      if (NEVER.contains(mount.type()) || overlayInside || mount.root().endsWith("//deleted")) {
        unmet.add(
            Requirement.MOUNT_KIND.foundAt(
                mount.mountPoint(),
                "%s of %s, root %s".formatted(mount.type(), mount.source(), mount.root())));
      } else if (isForeign(mount, subject.around().podMounts())) {
        unmet.add(
            Requirement.FOREIGN_MOUNT.found(
                "%s at %s".formatted(mount.type(), mount.mountPoint())));
      }
    }
    for (String file : subject.around().fileVolumes()) {
      unmet.add(Requirement.FILE_OF_VOLUME.found("a file at " + file));
    }
    Map<String, String> pod = subject.around().podMounts();
    if (pod != null) {
      unmet.addAll(runtimeMounts(subject.around(), pod));
      unmet.addAll(movedFolders(subject.around(), pod));
    }
    return unmet;
  }

  private static List<FailedRequirement> runtimeMounts(
      Surroundings around, Map<String, String> pod) {
    Set<String> unknown = new TreeSet<>(RuntimeMounts.of(around.mounts(), pod.keySet()).paths());
    unknown.removeAll(around.nodeMounts());
    return unknown.stream().map(path -> Requirement.RUNTIME_MOUNT.found(path)).toList();
  }

  /**
   * Folders of emptyDirs that are mounted by a subPath beside another mount of the same volume. The
   * kernel shows where the folder is now.
   */
  private static List<FailedRequirement> movedFolders(
      Surroundings around, Map<String, String> pod) {
    List<FailedRequirement> moved = new ArrayList<>();
    List<Mount> folders =
        around.mounts().stream()
            .filter(mount -> around.packedMounts().contains(mount.mountPoint()))
            .filter(mount -> pod.containsKey(mount.mountPoint()))
            .toList();
    for (Mount inner : folders) {
      for (Mount outer : folders) {
        Path now = Path.of(inner.root());
        if (inner.major() == outer.major()
            && inner.minor() == outer.minor()
            && now.startsWith(outer.root())) {
          Path expected = subPath(inner, pod);
          Path found = subPath(outer, pod).resolve(Path.of(outer.root()).relativize(now));
          if (!found.normalize().equals(expected)) {
            moved.add(
                Requirement.MOVED_FOLDER.foundAt(
                    inner.mountPoint(), "subPath %s is now %s".formatted(expected, found)));
          }
        }
      }
    }
    return moved;
  }

  private static Path subPath(Mount mount, Map<String, String> pod) {
    return Path.of(pod.getOrDefault(mount.mountPoint(), "")).normalize();
  }

  /** A whole file system in a place where no runtime mounts one, and that is not one of the pod. */
  private static boolean isForeign(Mount mount, @Nullable Map<String, String> known) {
    return known != null
        && mount.root().equals("/")
        && !OF_THE_RUNTIME.matcher(mount.mountPoint()).matches()
        && !RuntimeMounts.isOf(mount.mountPoint(), known.keySet());
  }
}
