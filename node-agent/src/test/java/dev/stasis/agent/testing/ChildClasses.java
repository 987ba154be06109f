package dev.stasis.agent.testing;

import dev.stasis.agent.cuda.DriverWorkerMain;
import dev.stasis.agent.cuda.WorkerSettings;
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
 * second one makes the archive. A child uses the archives of the test that started it.
 */
public final class ChildClasses {

  /** A property of a child: the folder of the archives. */
  private static final String FOLDER = "stasis.test.classes";

  /** Loading and archiving some thousand classes takes three seconds. */
  private static final int TRAINING_SECONDS = 120;

  /** What a JVM says of an archive would be taken for the program's answer. */
  private static final List<String> OPTIONS =
      List.of("-Xlog:disable", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  /** It lives for a second: it compiles only what runs ten times as often as usual. */
  private static final String FEW_COMPILED = "-XX:CompileThresholdScaling=10";

  private static final boolean CHILD = System.getProperty(FOLDER) != null;

  private static final Path ALL = CHILD ? Path.of(System.getProperty(FOLDER)) : made();

  private static final String CLASS_PATH = CHILD ? System.getProperty("java.class.path") : jars();

  /**
   * What a driver worker needs: in 250 libraries, Java looks for services for a tenth of a second.
   */
  private static final String WORKER_CLASS_PATH =
      Stream.of(CLASS_PATH.split(File.pathSeparator))
          .filter(
              jar ->
                  Path.of(jar).startsWith(ALL)
                      || Path.of(jar).getFileName().toString().matches("(jna|jackson)-.*"))
          .collect(Collectors.joining(File.pathSeparator));

  /** Of this JVM, for all its test classes. */
  private static final Map<Class<?>, ChildClasses> OF = new ConcurrentHashMap<>();

  private final String classPath;
  private final Path list;
  private final Path archive;
  private final Path log;

  private ChildClasses(Class<?> main) {
    classPath = main == DriverWorkerMain.class ? WORKER_CLASS_PATH : CLASS_PATH;
    list = ALL.resolve(main.getName() + ".loaded");
    archive = ALL.resolve(main.getName() + ".archive");
    log = ALL.resolve(main.getName() + ".log");
  }

  /** Returns the options of the next JVM that runs a program, the class path among them. */
  public static List<String> options(Class<?> main, String java) throws IOException {
    List<String> options = new ArrayList<>(OPTIONS);
    options.addAll(List.of("-cp", CLASS_PATH, "-D" + FOLDER + "=" + ALL));
    options.addAll(OF.computeIfAbsent(main, ChildClasses::new).archive(java));
    return options;
  }

  /** Returns the usual settings of a driver worker, with an archive. */
  public static WorkerSettings worker(Path state) {
    WorkerSettings usual = WorkerSettings.here(state);
    List<String> options = new ArrayList<>(OPTIONS);
    options.add(FEW_COMPILED);
    options.addAll(usual.options());
    try {
      options.addAll(
          OF.computeIfAbsent(DriverWorkerMain.class, ChildClasses::new)
              .archive(usual.java().toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new WorkerSettings(
        usual.launcher(),
        usual.java(),
        WORKER_CLASS_PATH,
        options,
        usual.stateFolder(),
        usual.log(),
        usual.environment());
  }

  private synchronized List<String> archive(String java) throws IOException {
    if (Files.exists(archive)) {
      return List.of("-XX:SharedArchiveFile=" + archive);
    }
    if (CHILD) {
      return List.of();
    }
    if (!Files.exists(list)) {
      return List.of("-Xlog:class+load:file=" + list + ":none");
    }
    train(java);
    return List.of("-XX:SharedArchiveFile=" + archive);
  }

  private void train(String java) throws IOException {
    Path unfinished = ALL.resolve(archive.getFileName() + ".unfinished");
    Process process =
        new ProcessBuilder(
                java,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:ArchiveClassesAtExit=" + unfinished,
                "-cp",
                classPath,
                "-D" + FOLDER + "=" + ALL,
                ChildClasses.class.getName(),
                list.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (!process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("no archive of classes was made: " + Files.readString(log));
      }
      Files.move(unfinished, archive);
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

  private static Path made() {
    try {
      Path folder = Files.createTempDirectory("child-classes");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The class path, with a jar for each folder: an archive of classes takes no others. */
  private static String jars() {
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (entry.isEmpty()) {
        // The current folder, in which other steps of the build write.
        continue;
      }
      if (Files.isDirectory(path)) {
        Path jar = ALL.resolve(entries.size() + ".jar");
        pack(path, jar);
        entries.add(jar.toString());
      } else if (Files.exists(path)) {
        entries.add(entry);
      }
    }
    return String.join(File.pathSeparator, entries);
  }

  private static void pack(Path from, Path jar) {
    try (Stream<Path> found = Files.walk(from);
        OutputStream out = Files.newOutputStream(jar);
        JarOutputStream packed = new JarOutputStream(out)) {
      packed.setLevel(0);
      for (Path file : found.filter(Files::isRegularFile).toList()) {
        packed.putNextEntry(new JarEntry(from.relativize(file).toString()));
        Files.copy(file, packed);
        packed.closeEntry();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
