package dev.stasis.agent.criu;

import dev.stasis.agent.process.Mount;
import java.util.List;

/**
 * Which of a container's mounts criu must not touch: all but the root and those of type proc. /dev
 * is among them, so that the target's own device nodes decide which GPU is found, and so are masked
 * paths, so that the target's own masks cover them again.
 */
record ExternalMounts(List<Mount> all) {

  List<Mount> list() {
    return all.stream().filter(ExternalMounts::isExternal).toList();
  }

  /**
   * The root is the holder's. A proc mount, also a read-only part of one, shows a pid namespace:
   * criu makes it anew for the one that it makes.
   */
  static boolean isExternal(Mount mount) {
    return !"/".equals(mount.mountPoint()) && !"proc".equals(mount.type());
  }
}
