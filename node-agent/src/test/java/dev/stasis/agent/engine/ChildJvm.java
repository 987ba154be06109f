package dev.stasis.agent.engine;

import dev.stasis.agent.testing.ChildClasses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM of its own with the classes of this test, for what has to die without taking the test
 * along.
 *
 * @param main what it runs
 */
public record ChildJvm(Class<?> main) {

  /** Starts it, its output in a file. */
  public Process start(Path log, String... arguments) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(ChildClasses.options(main, java));
    command.add("-Dstasis.runtime=" + EngineLab.runtime());
    command.add("-Dstasis.criu=" + EngineLab.criu());
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }
}
