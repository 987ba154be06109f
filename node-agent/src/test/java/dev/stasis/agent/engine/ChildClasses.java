package dev.stasis.agent.engine;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The classes that a program loads, in an archive (class data sharing), so that its JVM starts with
 * half of the processor time: some tests start hundreds. The first start records the classes, the
 * second one makes the archive.
 */
final class ChildClasses {

  /** Loading and archiving some thousand classes takes three seconds. */
  private static final int TRAINING_SECONDS = 120;

  /** Of this JVM, for all its test classes. */
  private static final Map<Class<?>, ChildClasses> ALL = new ConcurrentHashMap<>();

  private final Path folder;
  private final String classPath;

  private ChildClasses(Path folder) throws IOException {
    this.folder = folder;
    this.classPath = jars(folder);
  }

  static ChildClasses of(Class<?> main) {
    return ALL.computeIfAbsent(main, unused -> made());
  }

  private static ChildClasses made() {
    try {
      Path folder = Files.createTempDirectory("child-classes");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
      return new ChildClasses(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the options of the next start, the class path among them. */
  synchronized List<String> options(String java) throws IOException {
    Path list = folder.resolve("loaded");
    Path archive = folder.resolve("archive");
    List<String> options = new ArrayList<>(List.of("-cp", classPath));
    if (!Files.exists(list)) {
      options.add("-Xlog:class+load:file=" + list + ":none");
    } else {
      if (!Files.exists(archive)) {
        train(java, list, archive);
      }
      options.add("-XX:SharedArchiveFile=" + archive);
    }
    return options;
  }

  private void train(String java, Path list, Path archive) throws IOException {
    Path log = folder.resolve("log");
    Process process =
        new ProcessBuilder(
                java,
                "-XX:+UseSerialGC",
                "-XX:ArchiveClassesAtExit=" + archive,
                "-cp",
                classPath,
                ChildClasses.class.getName(),
                list.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (!process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("no archive of classes was made: " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Loads the classes of a list. */
  public static void main(String[] args) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of(args[0]))) {
      lines
          .filter(line -> line.contains(" source: ") && !line.contains("shared objects file"))
          .map(line -> line.substring(0, line.indexOf(' ')))
          .forEach(ChildClasses::load);
    }
  }

  private static void load(String name) {
    try {
      Class.forName(name, false, ChildClasses.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      // One that the JVM has generated, or the half of a line: it is loaded without the archive.
    }
  }

  /** The class path, with a jar for each folder: an archive of classes takes no others. */
  private static String jars(Path folder) throws IOException {
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (Files.isDirectory(path)) {
        Path jar = folder.resolve(entries.size() + ".jar");
        pack(path, jar);
        entries.add(jar.toString());
      } else if (Files.exists(path)) {
        entries.add(entry);
      }
    }
    return String.join(File.pathSeparator, entries);
  }

  private static void pack(Path from, Path jar) throws IOException {
    List<Path> files;
    try (Stream<Path> found = Files.walk(from)) {
      files = found.filter(Files::isRegularFile).collect(Collectors.toList());
    }
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream packed = new JarOutputStream(out)) {
      packed.setLevel(0);
      for (Path file : files) {
        packed.putNextEntry(new JarEntry(from.relativize(file).toString()));
        Files.copy(file, packed);
        packed.closeEntry();
      }
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
