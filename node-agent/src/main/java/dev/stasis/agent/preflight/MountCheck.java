package dev.stasis.agent.preflight;

import dev.stasis.agent.process.Mount;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Mounts that no other container can have: made inside, or of a kind whose other end stays behind;
 * and volumes that are mounted twice.
 */
final class MountCheck implements Check {

  private static final Set<String> NEVER = Set.of("nsfs", "autofs", "rpc_pipefs", "binder");

  private static final Pattern MOUNTED_BY_PROGRAMS =
      Pattern.compile(
          "(fuse|fuseblk)(\\..*)?|ext[234]|xfs|btrfs|squashfs|nfs4?|cifs|ceph|9p|ramfs");

  @Override
  public List<Unmet> unmet(Subject subject) {
    List<Unmet> unmet = new ArrayList<>();
    for (Mount mount : subject.around().mounts()) {
      boolean root = mount.mountPoint().equals("/");
      boolean overlayInside = mount.type().equals("overlay") && !root;
      if (NEVER.contains(mount.type()) || overlayInside || mount.root().endsWith("//deleted")) {
        unmet.add(
            Requirement.MOUNT_KIND.foundAt(
                mount.mountPoint(),
                "%s of %s, root %s".formatted(mount.type(), mount.source(), mount.root())));
      }
      if (isForeign(mount, subject.around().podMounts())) {
        unmet.add(
            Requirement.FOREIGN_MOUNT.found(
                "%s at %s".formatted(mount.type(), mount.mountPoint())));
      }
      overlapping(mount, subject.around()).ifPresent(unmet::add);
    }
    return unmet;
  }

  /**
   * A whole file system of a kind that no runtime mounts by itself, at none of the pod's mount
   * points. The last name alone is compared: the path may lead over a link. What lies below a
   * volume came with it: a folder of the host brings the file systems that are mounted in it.
   */
  private static boolean isForeign(Mount mount, @Nullable Set<String> known) {
    String path = mount.mountPoint();
    String name = path.substring(path.lastIndexOf('/') + 1);
    return known != null
        && mount.root().equals("/")
        && !path.equals("/")
        && MOUNTED_BY_PROGRAMS.matcher(mount.type()).matches()
        && known.stream()
            .map(one -> one.replaceFirst("/+$", ""))
            .noneMatch(one -> one.endsWith("/" + name) || path.startsWith(one + "/"));
  }

  /**
   * A restore unpacks the files of a volume, and recreates its folders: what is mounted from one of
   * them elsewhere would be a mount of a folder that is gone.
   */
  private static Optional<Unmet> overlapping(Mount whole, Surroundings around) {
    if (!around.packedMounts().contains(whole.mountPoint())) {
      return Optional.empty();
    }
    String below = whole.root().endsWith("/") ? whole.root() : whole.root() + "/";
    return around.mounts().stream()
        .filter(part -> part.major() == whole.major() && part.minor() == whole.minor())
        .filter(part -> part.root().startsWith(below) && part.root().length() > below.length())
        .findFirst()
        .map(
            part ->
                Requirement.OVERLAPPING_MOUNTS.found(
                    "a volume at %s, and its folder %s at %s"
                        .formatted(
                            whole.mountPoint(),
                            part.root().substring(below.length()),
                            part.mountPoint())));
  }
}
