package dev.stasis.agent.layer;

import dev.stasis.agent.process.LibC;
import dev.stasis.agent.process.Mount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Decides whether the files of a target's volume may be replaced. A restore deletes the content of
 * the volume, so it must be an emptyDir or the {@code /dev/shm} of exactly that pod. Any other
 * volume (a PersistentVolumeClaim, a host folder) outlives the pod and may be shared.
 */
public final class VolumeGuard {
  private static final String SHARED_MEMORY = "/dev/shm";

  private final List<Mount> mounts;
  private final TargetVolumes volumes;

  /**
   * @param mounts the mount table of the target container
   * @param volumes what the kubelet mounted into it
   */
  public VolumeGuard(List<Mount> mounts, TargetVolumes volumes) {
    this.mounts = List.copyOf(mounts);
    this.volumes = volumes;
  }

  /** A volume that must not be replaced. */
  public record Misfit(String property, String expected, String actual) {
    String sentence() {
      return "%s: expected %s, got %s".formatted(property, expected, actual);
    }
  }

  /**
   * Returns why the folder, opened at that path of the target, must keep its files; empty if it
   * need not.
   */
  Optional<Misfit> misfit(String path, Handle folder) throws IOException {
    Path emptyDir = volumes.emptyDirs().get(path);
    boolean own =
        emptyDir == null
            ? path.equals(SHARED_MEMORY) && isSharedMemoryOfThePod(folder)
            : isSame(emptyDir, folder);
    return own
        ? Optional.empty()
        : Optional.of(
            new Misfit("volume " + path, "an emptyDir of the target's pod", described(path)));
  }

  /**
   * Returns the inodes of a volume that have mounts in the target: the volume's own folder, and
   * folders in it that are mounted again by a subPath.
   *
   * @param path the volume's mount point in the target
   */
  Set<String> mounted(String path, Handle container) throws IOException {
    Set<String> inodes = new HashSet<>();
    for (Mount mount : mounts) {
      // Only those of the same file system: another one may not respond.
      if (visible(path).filter(volume -> isOfSameDevice(volume, mount)).isPresent()) {
        try (Handle top = container.inRoot(MountTargets.bytes(mount.mountPoint()))) {
          inodes.add(top.stat().inode());
        } catch (LinuxError e) {
          if (e.number() != LibC.ENOENT) {
            throw e;
          }
          // Another mount hides it: no path leads there.
        }
      }
    }
    return inodes;
  }

  private static boolean isOfSameDevice(Mount one, Mount other) {
    return one.major() == other.major() && one.minor() == other.minor();
  }

  /** The identity of the folder counts: a path of the container may lead elsewhere by a link. */
  private static boolean isSame(Path emptyDir, Handle folder) throws IOException {
    try (Handle expected = Handle.ofTrusted(emptyDir)) {
      return expected.stat().inode().equals(folder.stat().inode());
    }
  }

  /** The runtime's own tmpfs, without a user's volume at that path or around it. */
  private boolean isSharedMemoryOfThePod(Handle folder) throws IOException {
    Optional<Mount> mount = visible(SHARED_MEMORY);
    return !volumes.others().contains(SHARED_MEMORY)
        && !volumes.others().contains("/dev")
        && mount.isPresent()
        && mount.get().type().equals("tmpfs")
        && mount.get().root().equals("/")
        && folder.stat().inode().startsWith(mount.get().major() + ":" + mount.get().minor() + ":");
  }

  private String described(String path) {
    return visible(path)
        .map(mount -> "another volume (%s from %s)".formatted(mount.type(), mount.source()))
        .orElse("a folder without a mount");
  }

  /** Only the last mount at a path is visible. */
  private Optional<Mount> visible(String path) {
    return mounts.stream()
        .filter(mount -> mount.mountPoint().equals(path))
        .reduce((first, second) -> second);
  }
}
