package dev.stasis.agent.container;

import dev.stasis.agent.process.Mount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The host folders of an overlay root.
 *
 * @param lower the image's layers, top layer first
 * @param upper the writable layer; empty if the root is read-only
 * @param work the overlay's own work folder
 */
public record OverlayLayers(List<Path> lower, Optional<Path> upper, Optional<Path> work) {

  public OverlayLayers {
    lower = List.copyOf(lower);
  }

  static Optional<OverlayLayers> of(Mount root) {
    if (!"overlay".equals(root.type())) {
      return Optional.empty();
    }
    List<Path> lower = new ArrayList<>();
    for (String option : root.superOptions()) {
      if (option.startsWith("lowerdir=")) {
        // A colon in a name is escaped by a backslash.
        for (String folder : option.substring("lowerdir=".length()).split("(?<!\\\\)::?")) {
          lower.add(Path.of(folder.replace("\\:", ":")));
        }
      } else if (option.startsWith("lowerdir+=")) {
        lower.add(Path.of(option.substring("lowerdir+=".length())));
      }
    }
    return Optional.of(
        new OverlayLayers(
            lower,
            root.superOption("upperdir").map(Path::of),
            root.superOption("workdir").map(Path::of)));
  }
}
