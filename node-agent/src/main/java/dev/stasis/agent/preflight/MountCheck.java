package dev.stasis.agent.preflight;

import dev.stasis.agent.process.Mount;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Mounts that another container cannot have: made inside, or of a kind with another end that stays
 * behind; and volumes that are mounted twice.
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
    return unmet;
  }

  /**
   * A whole file system in a place where no runtime mounts one, and that is not a mount point of
   * the pod. Only the last name is compared, because the path may contain a link. Mounts below a
   * volume came with it: a host folder includes the file systems mounted in it.
   */
  private static boolean isForeign(Mount mount, @Nullable Set<String> known) {
    String path = mount.mountPoint();
    String name = path.substring(path.lastIndexOf('/') + 1);
    return known != null
        && mount.root().equals("/")
        && !OF_THE_RUNTIME.matcher(path).matches()
        && known.stream()
            .map(one -> one.replaceFirst("/+$", ""))
            .noneMatch(one -> one.endsWith("/" + name) || path.startsWith(one + "/"));
  }
}
