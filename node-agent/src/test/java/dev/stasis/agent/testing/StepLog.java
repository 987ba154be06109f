package dev.stasis.agent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What gpu-counter printed, checked step by step by gpu-counter itself; what was checked before is
 * not checked again.
 */
final class StepLog {

  private static final Pattern STEP = Pattern.compile("(child [0-9]+ )?(step ([0-9]+) .*)");

  private final Path counter;
  private final Map<String, Integer> checked = new HashMap<>();

  StepLog(Path counter) {
    this.counter = counter;
  }

  /** Fails when a step of any of its processes is lost, repeated or wrong. */
  void verify(int mib, List<String> before, List<String> lines) {
    lines.stream()
        .filter(line -> !STEP.matcher(line).matches())
        .findFirst()
        .ifPresent(
            line -> {
              throw new AssertionError("expected steps only, got: " + line);
            });
    Map<String, List<String>> earlier = byProcess(before);
    byProcess(lines)
        .forEach(
            (process, steps) -> {
              List<String> whole = new ArrayList<>();
              long first = number(steps.get(0));
              earlier.getOrDefault(process, List.of()).stream()
                  .filter(step -> number(step) < first)
                  .forEach(whole::add);
              whole.addAll(steps);
              check(mib, process, whole);
            });
  }

  private static Map<String, List<String>> byProcess(List<String> lines) {
    Map<String, List<String>> found = new LinkedHashMap<>();
    for (String line : lines) {
      Matcher step = STEP.matcher(line);
      if (step.matches()) {
        String process = step.group(1) == null ? "first process" : step.group(1).trim();
        found.computeIfAbsent(process, none -> new ArrayList<>()).add(step.group(2));
      }
    }
    return found;
  }

  private static long number(String step) {
    return Long.parseLong(step.split(" ")[1]);
  }

  private void check(int mib, String process, List<String> steps) {
    int from = checked.getOrDefault(process, 0);
    if (from > 0 && from == steps.size()) {
      return;
    }
    try {
      Path file = Files.createTempFile("stasis-steps", ".log");
      try {
        Files.write(file, steps.subList(from, steps.size()));
        Sh.Result result =
            new Sh()
                .run(
                    counter.toString(),
                    "--verify",
                    file.toString(),
                    "--mib",
                    Integer.toString(mib),
                    "--from",
                    Integer.toString(from + 1));
        if (result.code() != 0) {
          throw new AssertionError(process + ": " + result.output());
        }
        checked.put(process, steps.size());
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
