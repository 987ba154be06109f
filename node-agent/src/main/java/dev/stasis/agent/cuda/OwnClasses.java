package dev.stasis.agent.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds this program's classes, for a child process that runs some of them. Quarkus starts from one
 * jar without a class path and loads the rest itself; a plain JVM needs the class path.
 */
record OwnClasses(String classPath) {

  private static final String QUARKUS = "quarkus-run.jar";

  /** Libraries of the driver worker, besides the agent itself. */
  private static final List<String> NEEDED =
      List.of("dev.stasis.", "net.java.dev.jna.", "com.fasterxml.jackson.", "org.jspecify.");

  String path() {
    if (!classPath.endsWith(QUARKUS)) {
      return classPath;
    }
    Path folder = Path.of(classPath).toAbsolutePath().getParent();
    if (folder == null) {
      return classPath;
    }
    try (Stream<Path> app = Files.list(folder.resolve("app"));
        Stream<Path> libraries = Files.list(folder.resolve("lib/main"))) {
      return Stream.concat(
              app, libraries.filter(jar -> NEEDED.stream().anyMatch(name(jar)::startsWith)))
          .filter(jar -> name(jar).endsWith(".jar"))
          .map(Path::toString)
          .sorted()
          .collect(Collectors.joining(":"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the agent's classes in " + classPath, e);
    }
  }

  private static String name(Path jar) {
    return String.valueOf(jar.getFileName());
  }
}
