package dev.stasis.agent.cuda;

import dev.stasis.agent.process.HelperCgroups;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Settings for starting a driver worker.
 *
 * @param launcher command line before that of the JVM
 * @param options further options for the JVM
 * @param stateFolder folder with the region journals
 * @param log file for the worker's standard error; its folder is created
 * @param environment variables added to the agent's own
 */
public record WorkerSettings(
    List<String> launcher,
    Path java,
    String classPath,
    List<String> options,
    Path stateFolder,
    Path log,
    Map<String, String> environment) {

  /** The worker also needs JNA's folders, which a read-only root file system requires. */
  private static final List<String> PASSED_ON =
      List.of("java.io.tmpdir", "jna.tmpdir", "jna.boot.library.path", "jna.nosys");

  public WorkerSettings {
    launcher = List.copyOf(launcher);
    options = List.copyOf(options);
    environment = Map.copyOf(environment);
  }

  /** Uses the Java and classes of this process. */
  public static WorkerSettings here(Path stateFolder) {
    List<String> options = new ArrayList<>();
    if (Runtime.version().feature() > 17) {
      options.add("--enable-native-access=ALL-UNNAMED");
    }
    for (String name : PASSED_ON) {
      String value = System.getProperty(name);
      if (value != null) {
        options.add("-D" + name + "=" + value);
      }
    }
    return new WorkerSettings(
        // A JVM takes a while to its first line, and an undo may need a worker while the user
        // presses keys.
        List.of("setsid"),
        Path.of(System.getProperty("java.home"), "bin", "java"),
        new OwnClasses(System.getProperty("java.class.path")).path(),
        options,
        stateFolder,
        stateFolder.resolve("driver-worker.log"),
        Map.of());
  }

  public WorkerSettings withEnvironment(Map<String, String> more) {
    return new WorkerSettings(launcher, java, classPath, options, stateFolder, log, more);
  }

  /**
   * Returns the same for an agent in a container: the worker finishes its calls even after the
   * container has ended.
   *
   * @param runtime the program stasis-runtime; without it the worker stays in the agent's cgroups
   */
  public WorkerSettings outlivingTheContainer(Path runtime) {
    if (!Files.isExecutable(runtime)) {
      return this;
    }
    return new WorkerSettings(
        new HelperCgroups().command(runtime), // It starts a new session, as the launcher does.
        java,
        classPath,
        options,
        stateFolder,
        log,
        environment);
  }

  List<String> command() {
    List<String> command = new ArrayList<>(launcher);
    command.add(java.toString());
    // Small and quick to start; the worker keeps a few journals in memory at most.
    command.addAll(List.of("-Xmx48m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, DriverWorkerMain.class.getName()));
    return command;
  }
}
