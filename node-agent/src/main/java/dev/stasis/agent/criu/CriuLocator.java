package dev.stasis.agent.criu;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds criu: the configured program, else the project's own, else the first in PATH.
 *
 * @param named the configured program; if given, no other is tried
 * @param own the project's own program
 */
public record CriuLocator(Optional<Path> named, Path own, Map<String, String> environment) {

  /** The default places: property {@code stasis.criu}, {@code ../.tools/bin/criu}, PATH. */
  public static CriuLocator usual() {
    return new CriuLocator(
        Optional.ofNullable(System.getProperty("stasis.criu")).map(Path::of),
        Path.of("../.tools/bin/criu"),
        System.getenv());
  }

  public Optional<Path> find() {
    List<Path> places = new ArrayList<>();
    if (named.isPresent()) {
      places.add(named.get());
    } else {
      places.add(own);
      @Nullable String path = environment.get("PATH");
      for (String folder : (path == null ? "" : path).split(":")) {
        if (!folder.isEmpty()) {
          places.add(Path.of(folder, "criu"));
        }
      }
    }
    return places.stream()
        .map(place -> place.toAbsolutePath().normalize())
        .filter(place -> Files.isRegularFile(place) && Files.isExecutable(place))
        .findFirst();
  }
}
