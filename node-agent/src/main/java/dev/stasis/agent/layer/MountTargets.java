package dev.stasis.agent.layer;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** The mount points in a container, as paths relative to its root. */
record MountTargets(Set<String> paths) {
  MountTargets {
    paths = Set.copyOf(paths);
  }

  static MountTargets of(Collection<String> mountPoints) {
    Set<String> paths = new HashSet<>();
    for (String point : mountPoints) {
      String bytes = bytes(point);
      if (bytes.startsWith("/") && bytes.length() > 1) {
        paths.add(bytes.substring(1));
      }
    }
    return new MountTargets(paths);
  }

  /** Converts a path to the form of this package. */
  static String bytes(String path) {
    return new String(path.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  boolean contains(String path) {
    return paths.contains(path);
  }
}
