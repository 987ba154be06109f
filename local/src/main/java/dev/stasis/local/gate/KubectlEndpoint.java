package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The subset of kubectl that bin/demo needs, for machines without kubectl. The body of a request
 * contains the arguments, one per line, so that a shell can send it.
 */
final class KubectlEndpoint implements HttpHandler {

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final String NAMESPACE = "default";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  /** A watch ends when its reader is gone, which a write detects; after an hour in any case. */
  private static final long WATCH_SECONDS = 3600;

  /** A workload may be thawed before its pod ends. */
  private static final long DELETE_SECONDS = 600;

  private static final Pattern TEMPLATE = Pattern.compile("\\{\"([^\"]*)\"}|\\{([^}]*)}|([^{]+)");

  private final KubernetesClient client;
  private final List<Kind> kinds;
  private final Tables tables;
  private final PodLogs logs;

  KubectlEndpoint(KubernetesClient client, List<Kind> kinds, Tables tables, PodLogs logs) {
    this.client = client;
    this.kinds = kinds;
    this.tables = tables;
    this.logs = logs;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      List<String> arguments = new String(body, StandardCharsets.UTF_8).lines().toList();
      boolean streams =
          arguments.contains("--watch")
              || arguments.contains("-w")
              || arguments.contains("--follow")
              || arguments.indexOf("logs") == 0 && arguments.contains("-f");
      if (streams) {
        exchange.sendResponseHeaders(OK, 0);
        run(arguments, exchange.getResponseBody());
      } else {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        int code = run(arguments, output);
        exchange.sendResponseHeaders(
            code == 0 ? OK : BAD_REQUEST, output.size() == 0 ? -1 : output.size());
        output.writeTo(exchange.getResponseBody());
      }
    }
  }

  private int run(List<String> arguments, OutputStream to) {
    PrintStream out = new PrintStream(to, true, StandardCharsets.UTF_8);
    PrintWriter words = new PrintWriter(out, true);
    return new CommandLine(new Commands(out))
        .setOut(words)
        .setErr(words)
        .setExecutionExceptionHandler(
            (fault, line, parsed) -> {
              words.println("error: " + fault.getMessage());
              return 1;
            })
        .execute(arguments.toArray(String[]::new));
  }

  private Kind kind(String word) {
    String lower = word.toLowerCase(Locale.ROOT);
    return kinds.stream()
        .filter(
            it ->
                lower.equals(it.plural())
                    || lower.equals(it.kind().toLowerCase(Locale.ROOT))
                    || it.shortNames().contains(lower))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "kind: expected one of %s, got %s"
                        .formatted(kinds.stream().map(Kind::plural).toList(), word)));
  }

  private NonNamespaceOperation<
          GenericKubernetesResource,
          GenericKubernetesResourceList,
          Resource<GenericKubernetesResource>>
      objects(Kind kind) {
    return client.genericKubernetesResources(kind.context()).inNamespace(NAMESPACE);
  }

  /** Evaluates a kubectl template: paths and quoted texts in braces, and literal text. */
  private static String filled(String template, JsonNode object) {
    StringBuilder filled = new StringBuilder();
    Matcher part = TEMPLATE.matcher(template);
    while (part.find()) {
      if (part.group(1) != null) {
        filled.append(part.group(1).replace("\\n", "\n").replace("\\t", "\t"));
      } else if (part.group(2) != null) {
        filled.append(new JsonPath(part.group(2)).of(object));
      } else {
        filled.append(part.group(3));
      }
    }
    return filled.toString();
  }

  /** Prints in kubectl's format. */
  @Command(name = "kubectl", mixinStandardHelpOptions = true)
  final class Commands {

    private final PrintStream out;

    private Commands(PrintStream out) {
      this.out = out;
    }

    @Command(description = "Creates or changes the objects of a file.")
    void apply(@Option(names = "-f", required = true) Path file) throws IOException {
      for (String document : Files.readString(file).split("(?m)^---$")) {
        GenericKubernetesResource object =
            YAML.readValue(document, GenericKubernetesResource.class);
        String name = object.getMetadata().getName();
        var objects = objects(kind(object.getKind()));
        if (objects.withName(name).get() == null) {
          objects.resource(object).create();
          out.println(name + " created");
        } else {
          objects.withName(name).patch(MERGE, JSON.writeValueAsString(object));
          out.println(name + " configured");
        }
      }
    }

    @Command(description = "Shows objects as a table, or values of one.")
    void get(
        @Parameters(index = "0") String word,
        @Parameters(index = "1", arity = "0..1", defaultValue = "") String name,
        @Option(names = {"-w", "--watch"}) boolean watch,
        @Option(names = "-o", defaultValue = "") String form)
        throws IOException, InterruptedException {
      Kind kind = kind(word);
      Object found = name.isEmpty() ? objects(kind).list() : objects(kind).withName(name).get();
      if (found == null) {
        throw new IOException("%s %s not found".formatted(word, name));
      }
      JsonNode answer = JSON.valueToTree(found);
      if (form.startsWith("jsonpath=")) {
        String template = form.substring("jsonpath=".length());
        out.print(filled(template, answer));
        if (watch) {
          watch(objects(kind).withName(name), template);
        }
      } else if (form.isEmpty()) {
        print(tables.of(kind, answer));
      } else {
        out.print(YAML.writeValueAsString(answer));
      }
    }

    private void watch(Resource<GenericKubernetesResource> object, String template)
        throws InterruptedException {
      CountDownLatch closed = new CountDownLatch(1);
      Watcher<GenericKubernetesResource> watcher =
          new Watcher<>() {
            @Override
            public void eventReceived(Action action, GenericKubernetesResource changed) {
              out.print(filled(template, JSON.valueToTree(changed)));
              if (out.checkError()) {
                closed.countDown();
              }
            }

            @Override
            public void onClose(WatcherException cause) {
              closed.countDown();
            }
          };
      try (Watch watch = object.watch(watcher)) {
        closed.await(WATCH_SECONDS, TimeUnit.SECONDS);
      }
    }

    private void print(JsonNode table) {
      List<List<String>> rows = new ArrayList<>();
      List<Integer> shown = new ArrayList<>();
      List<String> head = new ArrayList<>();
      for (int i = 0; i < table.path("columnDefinitions").size(); i++) {
        JsonNode column = table.path("columnDefinitions").path(i);
        if (column.path("priority").asInt() == 0) {
          shown.add(i);
          head.add(column.path("name").asText().toUpperCase(Locale.ROOT));
        }
      }
      rows.add(head);
      for (JsonNode row : table.path("rows")) {
        rows.add(shown.stream().map(i -> row.path("cells").path(i).asText()).toList());
      }
      for (List<String> row : rows) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
          int column = i;
          int width = rows.stream().mapToInt(it -> it.get(column).length()).max().orElse(0);
          line.append(row.get(i)).append(" ".repeat(width - row.get(i).length() + 3));
        }
        out.println(line.toString().stripTrailing());
      }
    }

    @Command(description = "Deletes an object, and waits until it is gone.")
    void delete(@Parameters(index = "0") String kind, @Parameters(index = "1") String name) {
      Resource<GenericKubernetesResource> object = objects(kind(kind)).withName(name);
      object.delete();
      out.println(name + " deleted");
      object.waitUntilCondition(Objects::isNull, DELETE_SECONDS, TimeUnit.SECONDS);
    }

    @Command(description = "Changes an object.")
    void patch(
        @Parameters(index = "0") String kind,
        @Parameters(index = "1") String name,
        @Option(names = "--type", defaultValue = "merge") String type,
        @Option(names = "-p", required = true) String patch)
        throws IOException {
      if (!type.equals("merge")) {
        throw new IOException("--type: expected merge, got " + type);
      }
      objects(kind(kind)).withName(name).patch(MERGE, patch);
      out.println(name + " patched");
    }

    @Command(description = "Prints the output of a container.")
    void logs(
        @Parameters(index = "0") String pod,
        @Option(names = {"-f", "--follow"}) boolean follow,
        @Option(
                names = {"-c", "--container"},
                defaultValue = "")
            String container)
        throws IOException {
      logs.find(NAMESPACE, pod, container)
          .orElseThrow(() -> new IOException("no output found for pod " + pod))
          .copyTo(out, "", follow);
    }
  }
}
