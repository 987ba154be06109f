package dev.stasis.agent.criu;

import dev.stasis.agent.process.Mount;
import java.util.List;

/**
 * Selects the mounts that criu must not handle: all except the root and those of type proc. They
 * include /dev, so that the target's device nodes determine the GPU, and masked paths, so that the
 * target's masks hide them again.
 */
record ExternalMounts(List<Mount> all) {

  List<Mount> list() {
    return all.stream().filter(ExternalMounts::isExternal).toList();
  }

  /**
   * The root is the holder's. A proc mount, or a read-only part of one, belongs to a pid namespace:
   * criu mounts a new one for the namespace that it creates.
   */
  static boolean isExternal(Mount mount) {
    return !"/".equals(mount.mountPoint()) && !"proc".equals(mount.type());
  }
}
