package dev.stasis.agent.container;

import dev.stasis.agent.process.Mount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The folders of the host that an overlay root is made of.
 *
 * @param lower the image's layers, the uppermost first
 * @param upper the writable layer; empty when the root is read-only
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
        // A colon that belongs to a name is written with a backslash before it.
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
