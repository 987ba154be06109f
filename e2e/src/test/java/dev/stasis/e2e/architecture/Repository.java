package dev.stasis.e2e.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The checkout that this test runs in: the compiled classes and the source files of its modules.
 */
record Repository(Path root) {

  private static final Set<String> NOT_SOURCE = Set.of("target", ".git", ".tools", ".gpu", ".idea");

  static Repository ofThisBuild() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isRegularFile(folder.resolve("bin/setup"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new IllegalStateException("not inside a checkout: " + Path.of("").toAbsolutePath());
      }
    }
    return new Repository(folder);
  }

  /** What the modules were built from and ship. */
  JavaClasses productClasses() {
    return classesIn("classes");
  }

  /** The same, and their tests. */
  JavaClasses allClasses() {
    return classesIn("classes", "test-classes");
  }

  private JavaClasses classesIn(String... outputs) {
    List<Path> folders =
        modules().stream()
            .flatMap(module -> Stream.of(outputs).map(output -> module.resolve("target/" + output)))
            .filter(Files::isDirectory)
            .toList();
    return new ClassFileImporter().importPaths(folders);
  }

  private List<Path> modules() {
    try (Stream<Path> children = Files.list(root)) {
      return children
          .filter(child -> Files.isRegularFile(child.resolve("pom.xml")))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Files that a person wrote and compiles or runs, by the endings of their names. */
  List<Path> sources(String... endings) {
    try (Stream<Path> children = Files.list(root)) {
      return children
          .filter(child -> !NOT_SOURCE.contains(child.getFileName().toString()))
          .flatMap(Repository::filesBelow)
          .filter(file -> Stream.of(endings).anyMatch(file.toString()::endsWith))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<Path> filesBelow(Path top) {
    try (Stream<Path> walk = Files.walk(top)) {
      return walk
          .filter(Files::isRegularFile)
          .filter(file -> !top.relativize(file).startsWith("target"))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
