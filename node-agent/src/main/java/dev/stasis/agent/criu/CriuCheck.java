package dev.stasis.agent.criu;

import dev.stasis.agent.process.ChildStart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks whether criu works on this kernel. */
public final class CriuCheck {

  /** Older versions cannot read the mounts of new kernels. */
  static final Version WANTED = new Version(4, 1, 1);

  /** Both commands take well under a second. */
  private static final int SECONDS = 30;

  private static final Pattern VERSION =
      Pattern.compile("Version: ([0-9]+)\\.([0-9]+)(?:\\.([0-9]+))?.*");

  private static final Predicate<String> MENDED =
      Pattern.compile("GitID: stasis-[0-9]+").asMatchPredicate();

  /** A release of criu. */
  public record Version(int major, int minor, int patch) implements Comparable<Version> {
    @Override
    public int compareTo(Version other) {
      int byMajor = Integer.compare(major, other.major);
      int byMinor = Integer.compare(minor, other.minor);
      return byMajor != 0 ? byMajor : byMinor != 0 ? byMinor : Integer.compare(patch, other.patch);
    }

    @Override
    public String toString() {
      return major + "." + minor + (patch == 0 ? "" : "." + patch);
    }

    static Optional<Version> in(List<String> lines) {
      return lines.stream()
          .map(VERSION::matcher)
          .filter(Matcher::matches)
          .map(
              found ->
                  new Version(
                      Integer.parseInt(found.group(1)),
                      Integer.parseInt(found.group(2)),
                      found.group(3) == null ? 0 : Integer.parseInt(found.group(3))))
          .findFirst();
    }
  }

  /** The result of the check. */
  public sealed interface Result {
    /**
     * criu works here.
     *
     * @param version its release
     * @param mended whether it was built by bin/setup, without the bugs that can lose workloads
     */
    record Good(Version version, boolean mended) implements Result {

      /** The warning for an unpatched criu. */
      public static final String FAULTS =
          "not patched by bin/setup: a workload may end if criu is killed during a dump, or if"
              + " the workload has a small ulimit -f; periodic timerfds may stop after a"
              + " restore; a training with forked data loaders cannot be frozen";
    }

    /**
     * criu cannot be used.
     *
     * @param why one sentence: the property, the expected and the actual value
     */
    record Unusable(String why) implements Result {}
  }

  public Result check(Path criu) throws IOException, InterruptedException {
    if (!Files.isExecutable(criu)) {
      return new Result.Unusable("criu: expected a program, got none at " + criu);
    }
    Answer answer = ask(List.of(criu.toString(), "--version"));
    Optional<Version> version = Version.in(answer.lines());
    if (version.isEmpty()) {
      return new Result.Unusable("criu version: expected a number, got " + answer.lastLine());
    }
    if (version.get().compareTo(WANTED) < 0) {
      return new Result.Unusable(
          "criu version: expected " + WANTED + " or newer, got " + version.get());
    }
    Answer kernel = ask(List.of(criu.toString(), "check", "--no-default-config"));
    return kernel.code() == 0
        ? new Result.Good(version.get(), answer.lines().stream().anyMatch(MENDED))
        : new Result.Unusable("criu check: expected \"Looks good\", got " + kernel.lastLine());
  }

  private static Answer ask(List<String> command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("criu-check", ".out");
    try {
      Process process =
          new ChildStart()
              .start(
                  new ProcessBuilder(command)
                      .redirectErrorStream(true)
                      .redirectOutput(output.toFile()));
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
        return new Answer(-1, List.of("no answer after " + SECONDS + " s"));
      }
      return new Answer(process.exitValue(), Files.readAllLines(output));
    } finally {
      Files.delete(output);
    }
  }

  private record Answer(int code, List<String> lines) {
    String lastLine() {
      return lines.isEmpty() ? "exit code " + code : lines.get(lines.size() - 1);
    }
  }
}
