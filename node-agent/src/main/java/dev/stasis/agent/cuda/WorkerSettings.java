package dev.stasis.agent.cuda;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How a driver worker is started.
 *
 * @param java the java program
 * @param classPath where the worker's classes are
 * @param options further options for the JVM
 * @param stateFolder below which the region journals lie
 * @param log where the worker's standard error goes; its folder is made
 * @param environment added to the agent's own
 */
public record WorkerSettings(
    Path java,
    String classPath,
    List<String> options,
    Path stateFolder,
    Path log,
    Map<String, String> environment) {

  /** JNA's places, which a read-only root file system makes necessary, hold for the worker too. */
  private static final List<String> PASSED_ON =
      List.of("java.io.tmpdir", "jna.tmpdir", "jna.boot.library.path", "jna.nosys");

  public WorkerSettings {
    options = List.copyOf(options);
    environment = Map.copyOf(environment);
  }

  /** The same Java and classes as this process. */
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
        Path.of(System.getProperty("java.home"), "bin", "java"),
        new OwnClasses(System.getProperty("java.class.path")).path(),
        options,
        stateFolder,
        stateFolder.resolve("driver-worker.log"),
        Map.of());
  }

  public WorkerSettings withEnvironment(Map<String, String> more) {
    return new WorkerSettings(java, classPath, options, stateFolder, log, more);
  }

  List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(java.toString());
    // Small and quick to start; what it keeps in memory is a few journals at most.
    command.addAll(List.of("-Xmx48m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, DriverWorkerMain.class.getName()));
    return command;
  }
}
