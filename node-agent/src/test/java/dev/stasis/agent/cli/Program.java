package dev.stasis.agent.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.testing.Sh;
import dev.stasis.agent.testing.SimGpuNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The program as a process of its own, as the launcher starts it, with folders of its own. */
final class Program implements AutoCloseable {

  /** A freeze of a small workload takes seconds; a loaded machine is given time. */
  private static final long LIMIT_SECONDS = 180;

  private final SimGpuNode gpus;
  private final Path folder;
  private final Path memory;
  private Path criu = Path.of(absolute(System.getProperty("stasis.criu", "../.tools/bin/criu")));

  Program(SimGpuNode gpus) {
    this.gpus = gpus;
    try {
      folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-cli");
      memory = Files.createTempDirectory(Path.of("/dev/shm"), "stasis-cli");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a run gave. */
  record Run(int code, String out, String err) {
    JsonNode json() {
      try {
        return new ObjectMapper().readTree(out);
      } catch (JsonProcessingException e) {
        throw new UncheckedIOException("no JSON: " + out + err, e);
      }
    }
  }

  Path store() {
    return folder.resolve("store");
  }

  /** From now on a dump goes on for some seconds when its images are written. */
  void dumpsSlowly(int seconds) throws IOException {
    String script =
        """
        #!/bin/sh
        trap '' INT
        '%s' "$@"
        code=$?
        case "$1" in dump) sleep %d ;; esac
        exit $code
        """
            .formatted(criu, seconds);
    criu = Files.writeString(Files.createTempFile(folder, "criu", ".slow"), script);
    Files.setPosixFilePermissions(criu, PosixFilePermissions.fromString("rwx------"));
  }

  /** Whether criu has begun to write an image. */
  boolean isDumping() throws IOException {
    Path state = memory.resolve("state");
    if (!Files.isDirectory(state)) {
      return false;
    }
    try (Stream<Path> all = Files.find(state, 4, (path, facts) -> path.endsWith("criu-images"))) {
      for (Path images : all.toList()) {
        try (Stream<Path> files = Files.list(images)) {
          if (files.findAny().isPresent()) {
            return true;
          }
        }
      }
    }
    return false;
  }

  Process start(Path out, Path err, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    // A process group of its own, as a shell gives it: Ctrl-C reaches every process in it.
    // Whoever runs the tests in the background may have it ignored; that is inherited.
    command.addAll(List.of("setsid", "env", "--default-signal=INT"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), StasisNode.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("STASIS_STATE_DIR", memory.resolve("state").toString());
    builder.environment().put("STASIS_MEMORY_STAGE", memory.resolve("stage").toString());
    builder.environment().put("STASIS_CRIU_DIR", folder.resolve("criu").toString());
    builder.environment().put("STASIS_LIBCUDA", gpus.libcuda().toString());
    builder.environment().put("STASIS_LIBNVML", gpus.libnvml().toString());
    builder.environment().put("STASIS_SIM_GPU", gpus.folder().toString());
    builder.environment().put("STASIS_CRIU", criu.toString());
    builder
        .environment()
        .put(
            "STASIS_RUNTIME",
            absolute(System.getProperty("stasis.runtime", "../runtime/target/stasis-runtime")));
    return builder.start();
  }

  private static String absolute(String path) {
    return Path.of(path).toAbsolutePath().normalize().toString();
  }

  Run run(String... arguments) throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "run", ".out");
    Path err = Files.createTempFile(folder, "run", ".err");
    Process process = start(out, err, arguments);
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
      throw new AssertionError(List.of(arguments) + " ran longer than " + LIMIT_SECONDS + " s");
    }
    return new Run(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Files.readString(err, StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    new Sh().run("rm", "-rf", folder.toString(), memory.toString());
  }
}
