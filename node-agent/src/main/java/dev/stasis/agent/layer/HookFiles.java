package dev.stasis.agent.layer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes files that the runtime and the container toolkit's hooks put into a writable layer
 * from those of the program. The former belong to the node: every container has its own, with other
 * names and for another driver's files.
 */
final class HookFiles {
  private static final Pattern LIBRARY = Pattern.compile("(.*/lib[^/]*\\.so)(\\.[^/]*)?");
  private static final Pattern TOOLKIT =
      Pattern.compile("(.*/)?(libcuda\\.so|libnvidia-ml\\.so).*|(var/)?run/nvidia-ctk-hook(/.*)?");

  /** Files written by any version of the toolkit's hooks. */
  private static final List<Pattern> WRITTEN =
      List.of(
          // update-ldcache
          Pattern.compile("etc/ld\\.so\\.cache~?"),
          Pattern.compile("etc/ld\\.so\\.conf\\.d/[^/]*nvcr[^/]*"),
          // update-application-profile, and the mount points in that folder
          Pattern.compile("etc/nvidia(/.*)?"),
          Pattern.compile("etc/vulkan(/.*)?"),
          // disable-device-node-modification, with another name in every container
          Pattern.compile("(var/)?run/nvidia-ctk-hook(/.*)?"));

  private final MountTargets mounts;
  private final Set<String> mountedLibraries;
  private final boolean toolkit;

  /** For a container with these mounts. */
  HookFiles(MountTargets mounts) {
    this.mounts = mounts;
    this.mountedLibraries =
        mounts.paths().stream().flatMap(path -> stem(path).stream()).collect(Collectors.toSet());
    this.toolkit = mounts.paths().stream().anyMatch(path -> TOOLKIT.matcher(path).matches());
  }

  /**
   * Returns why a path of the layer does not belong to the program; empty if it does.
   *
   * @param path relative to the container's root
   * @param link the target if it is a symbolic link
   */
  Optional<String> foreign(String path, @Nullable String link) {
    if (mounts.contains(path)) {
      return Optional.of("a mount point");
    }
    if (toolkit && WRITTEN.stream().anyMatch(pattern -> pattern.matcher(path).matches())) {
      return Optional.of("written by the container toolkit");
    }
    if (toolkit && link != null && isDriverLink(path, link)) {
      return Optional.of("the container toolkit's link to a driver library");
    }
    return Optional.empty();
  }

  /** ldconfig and the hooks link {@code libX.so} to {@code libX.so.1}, and that to the mount. */
  private boolean isDriverLink(String path, String link) {
    return stem(resolved(path, link)).filter(mountedLibraries::contains).isPresent();
  }

  private static Optional<String> stem(String path) {
    var matcher = LIBRARY.matcher("/" + path);
    return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  private static String resolved(String path, String link) {
    Deque<String> parts = new ArrayDeque<>();
    int slash = path.lastIndexOf('/');
    String whole = link.startsWith("/") || slash < 0 ? link : path.substring(0, slash + 1) + link;
    for (String part : whole.split("/")) {
      if (part.equals("..")) {
        parts.pollLast();
      } else if (!part.isEmpty() && !part.equals(".")) {
        parts.addLast(part);
      }
    }
    return String.join("/", parts);
  }
}
