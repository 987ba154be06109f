package dev.stasis.local.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code apply}, {@code get}, {@code delete} and {@code logs}, written as kubectl writes them. */
@Command(
    name = "kubectl",
    mixinStandardHelpOptions = true,
    description = "As much of kubectl as bin/demo needs.")
final class LocalClient {

  /** Not the Kubernetes client's, which is slow to start. */
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private static final long LOOK_AGAIN_SECONDS = 1;

  private final Requests requests;
  private final PrintStream out;

  LocalClient(Requests requests, PrintStream out) {
    this.requests = requests;
    this.out = out;
  }

  @Command(description = "Makes what a file says; several documents may stand in it.")
  void apply(@Option(names = "-f", required = true) Path file)
      throws IOException, InterruptedException {
    for (String document : Files.readString(file).split("(?m)^---$")) {
      JsonNode object = YAML.readTree(document);
      String path = Place.of(object).path();
      String name = object.path("metadata").path("name").asText();
      if (requests.get(path + "/" + name, false).isPresent()) {
        requests.send("PATCH", path + "/" + name, object.toString());
        out.println(name + " configured");
      } else {
        requests.send("POST", path, object.toString());
        out.println(name + " created");
      }
    }
  }

  @Command(description = "Shows objects as a table, or values of one.")
  void get(
      @Parameters(index = "0") String kind,
      @Parameters(index = "1", arity = "0..1", defaultValue = "") String name,
      @Option(names = {"-w", "--watch"}) boolean watch,
      @Option(names = "-o", defaultValue = "") String form)
      throws IOException, InterruptedException {
    Place place = Place.named(kind);
    String path = place.path() + (name.isEmpty() ? "" : "/" + name);
    JsonNode answer =
        requests
            .get(path, form.isEmpty())
            .orElseThrow(() -> new IOException(kind + " " + name + ": wanted one, found none"));
    if (form.startsWith("jsonpath=")) {
      Template template = new Template(form.substring("jsonpath=".length()));
      print(template.of(answer));
      if (watch) {
        requests.watch(place.path(), name, it -> print(template.of(it.path("object"))));
      }
    } else if (form.isEmpty()) {
      table(answer).forEach(out::println);
    } else {
      print(YAML.writeValueAsString(answer));
    }
  }

  private void print(String text) {
    out.print(text);
    if (out.checkError()) {
      throw new UncheckedIOException(new IOException("nobody reads any more"));
    }
  }

  private static List<String> table(JsonNode answer) {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>();
    List<Integer> shown = new ArrayList<>();
    for (int i = 0; i < answer.path("columnDefinitions").size(); i++) {
      JsonNode column = answer.path("columnDefinitions").path(i);
      if (column.path("priority").asInt() == 0) {
        shown.add(i);
        head.add(column.path("name").asText().toUpperCase(java.util.Locale.ROOT));
      }
    }
    rows.add(head);
    for (JsonNode row : answer.path("rows")) {
      rows.add(shown.stream().map(i -> row.path("cells").path(i).asText()).toList());
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(it -> it.get(column).length()).max().orElse(0);
        line.append(row.get(i)).append(" ".repeat(width - row.get(i).length() + 3));
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  @Command(description = "Deletes an object, and waits until it is gone.")
  void delete(@Parameters(index = "0") String kind, @Parameters(index = "1") String name)
      throws IOException, InterruptedException {
    String path = Place.named(kind).path();
    CountDownLatch gone = new CountDownLatch(1);
    Thread watch = new Thread(() -> requests.awaitDeleted(path, name, gone), "watch");
    watch.setDaemon(true);
    watch.start();
    requests.send("DELETE", path + "/" + name, "{}");
    out.println(name + " deleted");
    while (!gone.await(LOOK_AGAIN_SECONDS, TimeUnit.SECONDS)) {
      // It may have gone before the watch began.
      if (requests.get(path + "/" + name, false).isEmpty()) {
        return;
      }
    }
  }

  @Command(description = "Changes an object.")
  void patch(
      @Parameters(index = "0") String kind,
      @Parameters(index = "1") String name,
      @Option(names = "--type", defaultValue = "merge") String type,
      @Option(names = "-p", required = true) String patch)
      throws IOException, InterruptedException {
    if (!type.equals("merge")) {
      throw new IOException("--type: wanted merge, found " + type);
    }
    requests.send("PATCH", Place.named(kind).path() + "/" + name, patch);
    out.println(name + " patched");
  }

  @Command(description = "Shows what a pod has printed.")
  void logs(
      @Parameters(index = "0") String pod,
      @Option(names = {"-f", "--follow"}) boolean follow,
      @Option(
              names = {"-c", "--container"},
              defaultValue = "")
          String container)
      throws IOException, InterruptedException {
    String path =
        "%s/%s/log?follow=%s&container=%s"
            .formatted(Place.named("pod").path(), pod, follow, container);
    requests.lines(path, line -> print(line + "\n"));
  }
}
