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
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-static",
                "-pthread",
                "-o",
                made.toString(),
                source.toString())
            .inheritIO()
            .start();
    // A busy machine needs seconds for it, never a minute.
    if (!gcc.waitFor(60, TimeUnit.SECONDS) || gcc.exitValue() != 0) {
      gcc.destroyForcibly();
      throw new IOException("gcc could not compile " + source);
    }
    return Files.move(made, program, StandardCopyOption.ATOMIC_MOVE);
  }
}
