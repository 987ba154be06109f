package dev.stasis.agent.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/** Compiles the small C programs that tests freeze, each once. */
public final class TestPrograms {

  private final Path folder = Path.of("target/test-programs").toAbsolutePath();

  /** A static program made from {@code src/test/c/NAME.c}. */
  public Path compiled(String name) throws IOException, InterruptedException {
    Path source = Path.of("src/test/c", name + ".c").toAbsolutePath();
    Path program = folder.resolve(name);
    if (Files.exists(program)
        && Files.getLastModifiedTime(program).compareTo(Files.getLastModifiedTime(source)) >= 0) {
      return program;
    }
    Files.createDirectories(folder);
    Path made = Files.createTempFile(folder, name, ".new");
    run(
        "gcc",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-static",
        "-pthread",
        "-o",
        made.toString(),
        source.toString());
    return Files.move(made, program, StandardCopyOption.ATOMIC_MOVE);
  }

  /** The program stasis-runtime: the one named by {@code stasis.runtime}, else made here. */
  public Path runtime() throws IOException, InterruptedException {
    String named = System.getProperty("stasis.runtime");
    if (named != null) {
      return Path.of(named);
    }
    run("make", "-s", "-C", Path.of("../runtime").toAbsolutePath().toString());
    return Path.of("../runtime/target/stasis-runtime").toAbsolutePath().normalize();
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).inheritIO().start();
    // A busy machine needs seconds for it, never some minutes.
    if (!process.waitFor(180, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", command) + " failed");
    }
  }
}
