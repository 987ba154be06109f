package dev.stasis.kubectl.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Accesses the cluster through the user's own kubectl. */
public final class Kubectl implements Cluster {

  /** A request takes milliseconds; this allows for an API server under load, or a login plugin. */
  private static final long LIMIT_SECONDS = 60;

  private final String program;
  private final List<String> connection;
  private final JsonReader json;

  /**
   * @param program kubectl: a name on PATH, or a path
   * @param connection kubectl's options for cluster, user and namespace
   */
  public Kubectl(String program, List<String> connection, JsonReader json) {
    this.program = program;
    this.connection = List.copyOf(connection);
    this.json = json;
  }

  @Override
  public List<Resource> list(List<Kind> kinds, Scope scope, String... options) {
    List<String> arguments = new ArrayList<>();
    arguments.add("get");
    arguments.add(kinds.stream().map(Kind::resource).collect(Collectors.joining(",")));
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--output", "json"));
    arguments.addAll(List.of(options));
    return new Resource(tree(run("", arguments))).list("items");
  }

  @Override
  public Optional<Resource> find(Kind kind, Scope scope, String name) {
    List<String> arguments = new ArrayList<>(List.of("get", kind.resource(), name));
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--output", "json", "--ignore-not-found"));
    String found = run("", arguments);
    return found.isBlank() ? Optional.empty() : Optional.of(new Resource(tree(found)));
  }

  @Override
  public Resource create(Scope scope, JsonNode object, boolean dryRun) {
    List<String> arguments = new ArrayList<>(List.of("create", "--filename", "-"));
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--output", "json"));
    if (dryRun) {
      arguments.add("--dry-run=server");
    }
    return new Resource(tree(run(object.toString(), arguments)));
  }

  @Override
  public Resource patch(Kind kind, Scope scope, String name, JsonNode patch) {
    List<String> arguments = new ArrayList<>(List.of("patch", kind.resource(), name));
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--type", "merge", "--patch", patch.toString(), "--output", "json"));
    return new Resource(tree(run("", arguments)));
  }

  @Override
  public void delete(Kind kind, Scope scope, String name) {
    List<String> arguments = new ArrayList<>(List.of("delete", kind.resource(), name));
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--ignore-not-found", "--wait=false"));
    run("", arguments);
  }

  @Override
  public Watching watch(Kind kind, Scope scope, String name) {
    List<String> arguments = new ArrayList<>(List.of("get", kind.resource(), name));
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--watch", "--output-watch-events", "--output", "json"));
    return new KubectlWatch(
        () -> start(arguments, false),
        json,
        kind.value() + " " + name,
        () -> find(kind, scope, name),
        KubectlWatch.LOOK_AFTER);
  }

  @Override
  public Watching watch(List<Kind> kinds, Scope scope, List<Resource> known, String... options) {
    Map<String, Supplier<Process>> starts = new LinkedHashMap<>();
    for (Kind kind : kinds) {
      List<String> arguments = new ArrayList<>(List.of("get", kind.resource()));
      arguments.addAll(scope.options());
      arguments.addAll(List.of("--watch", "--output-watch-events", "--output", "json"));
      arguments.addAll(List.of(options));
      starts.put(kind.resource(), () -> start(arguments, false));
    }
    return new KubectlListWatch(starts, json, known);
  }

  @Override
  public List<String> log(String namespace, String pod, String since) {
    return run(
            "",
            List.of(
                "logs", pod, "--namespace", namespace, "--all-containers", "--since-time", since))
        .lines()
        .toList();
  }

  @Override
  public String raw(String path) {
    return run("", List.of("get", "--raw", path));
  }

  @Override
  public String print(List<String> what, Scope scope, String format) {
    List<String> arguments = new ArrayList<>(List.of("get"));
    arguments.addAll(what);
    arguments.addAll(scope.options());
    arguments.addAll(List.of("--output", format));
    return run("", arguments);
  }

  private String run(String input, List<String> arguments) {
    Process process = start(arguments, true);
    CompletableFuture<String> errors = CompletableFuture.supplyAsync(() -> text(process, true));
    CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> text(process, false));
    try {
      feed(process, input);
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new ClusterFailure(
            ClusterFailure.Why.UNREACHABLE,
            "kubectl: expected an answer within " + LIMIT_SECONDS + " s, got none",
            "check whether the cluster responds: kubectl cluster-info");
      }
      if (process.exitValue() != 0) {
        throw ClusterFailure.of(errors.join());
      }
      return output.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure(ClusterFailure.Why.UNREACHABLE, "interrupted", "");
    } finally {
      process.destroy();
    }
  }

  private static void feed(Process process, String input) {
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException ended) {
      // It ended without reading; its exit code and message explain why.
      return;
    }
  }

  private Process start(List<String> arguments, boolean limited) {
    List<String> command = new ArrayList<>();
    command.add(program);
    command.addAll(connection);
    if (limited && connection.stream().noneMatch(it -> it.startsWith("--request-timeout"))) {
      command.add("--request-timeout=" + LIMIT_SECONDS / 2 + "s");
    }
    command.addAll(arguments);
    try {
      return new ProcessBuilder(command).start();
    } catch (IOException e) {
      throw new ClusterFailure(
          ClusterFailure.Why.UNREACHABLE,
          "kubectl: expected the program " + program + ", got " + e.getMessage(),
          "install kubectl, or set KUBECTL=/path/to/kubectl");
    }
  }

  private JsonNode tree(String text) {
    try {
      return json.tree(text);
    } catch (JsonProcessingException e) {
      throw new ClusterFailure(
          ClusterFailure.Why.UNREACHABLE,
          "kubectl: expected an object as JSON, got " + e.getOriginalMessage(),
          "");
    }
  }

  private static String text(Process process, boolean errors) {
    try (InputStream from = errors ? process.getErrorStream() : process.getInputStream()) {
      return new String(from.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
