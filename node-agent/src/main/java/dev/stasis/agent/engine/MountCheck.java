package dev.stasis.agent.engine;

import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.Mount;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Mounts that no other container can have: made inside, or of a kind whose other end stays behind.
 */
final class MountCheck {

  private static final Set<String> NEVER = Set.of("nsfs", "autofs", "rpc_pipefs", "binder");

  List<Unmet> unmet(List<Mount> mounts) {
    List<Unmet> unmet = new ArrayList<>();
    for (Mount mount : mounts) {
      boolean root = mount.mountPoint().equals("/");
      boolean overlayInside = mount.type().equals("overlay") && !root;
      if (NEVER.contains(mount.type()) || overlayInside || mount.root().endsWith("//deleted")) {
        unmet.add(
            new Unmet(
                "mount " + mount.mountPoint(),
                "a mount that another container can have too",
                "%s of %s, root %s".formatted(mount.type(), mount.source(), mount.root())));
      }
    }
    return unmet;
  }
}
