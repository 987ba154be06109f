package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The Java that runs operator and agents: that of the images when this machine has it, else the one
 * of PATH.
 *
 * @param program its launcher
 */
record ShippedJava(String program) {

  /** Environment variable with the home of a JDK to use instead. */
  private static final String HOME = "STASIS_E2E_JAVA_HOME";

  /** The line in the file {@code release} of the JDK that images/lib/java-runtime takes. */
  private static final String SHIPPED = "JAVA_VERSION=\"25";

  static ShippedJava find() {
    return find(System.getenv(), List.of(Path.of("/usr/lib/jvm"), Path.of("/opt/java")));
  }

  private static ShippedJava find(Map<String, String> environment, List<Path> folders) {
    String named = environment.get(HOME);
    if (named != null && !named.isBlank()) {
      return in(Path.of(named));
    }
    @Nullable String home = environment.get("JAVA_HOME");
    Stream<Path> own = home == null ? Stream.empty() : Stream.of(Path.of(home));
    return Stream.concat(own, folders.stream().flatMap(ShippedJava::homes))
        .filter(ShippedJava::isShipped)
        .findFirst()
        .map(ShippedJava::in)
        .orElse(new ShippedJava("java"));
  }

  private static ShippedJava in(Path home) {
    return new ShippedJava(home.resolve("bin/java").toString());
  }

  private static Stream<Path> homes(Path folder) {
    if (!Files.isDirectory(folder)) {
      return Stream.empty();
    }
    try (Stream<Path> found = Files.list(folder)) {
      return found.sorted().toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isShipped(Path home) {
    Path release = home.resolve("release");
    if (!Files.isExecutable(home.resolve("bin/java")) || !Files.isRegularFile(release)) {
      return false;
    }
    try {
      return Files.readString(release).contains(SHIPPED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
