package dev.stasis.local.gate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.stasis.local.api.LocalApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Serves kubectl on a loopback port, for root only. */
public final class Gate implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Gate.class.getPackageName());
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FIELDS = "fieldSelector";
  private static final int NOT_FOUND = 404;
  private static final int NOT_IMPLEMENTED = 501;
  private static final Pattern OBJECTS =
      Pattern.compile(
          "(/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/([^/]+)(?=/))?/([a-z0-9]+)(?:/([^/]+))?");
  private static final Pattern STREAMS =
      Pattern.compile("/api/v1/namespaces/[^/]+/pods/[^/]+/(exec|attach|portforward)");
  private static final Pattern LOGS =
      Pattern.compile("/api/v1/namespaces/([^/]+)/pods/([^/]+)/log");

  /** An answer from memory takes milliseconds; kubectl itself waits no longer. */
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private final LocalApiServer behind;
  private final KubernetesClient client;
  private final PodLogs logs;
  private final List<Kind> kinds = new ArrayList<>();
  private final Discovery discovery;
  private final Tables tables;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * Opens the port.
   *
   * @param behind the API server, and the custom resources served beside those of Kubernetes
   * @param client a client of it
   * @param port 0 for any free port
   */
  public Gate(LocalApiServer behind, KubernetesClient client, PodLogs logs, int port, Clock clock)
      throws IOException {
    this.behind = behind;
    this.client = client;
    this.logs = logs;
    kinds.addAll(Kind.ofKubernetes());
    behind.definitions().forEach(definition -> kinds.add(Kind.of(definition)));
    this.discovery = new Discovery(kinds);
    this.tables = new Tables(clock);
    this.server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(threads);
    answer("/", this::handle);
    answer("/client", new KubectlEndpoint(client, kinds, tables, logs));
    server.start();
  }

  /** Returns its address. */
  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(String path, HttpHandler handler) {
    server.createContext(path, handler).getFilters().add(new RootOnly());
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      Query query = Query.of(exchange.getRequestURI().getRawQuery());
      boolean get = exchange.getRequestMethod().equals("GET");
      Optional<? extends JsonNode> known = get ? discovery.answer(path) : Optional.empty();
      Matcher log = LOGS.matcher(path);
      Matcher stream = STREAMS.matcher(path);
      Optional<Kind> kind = get ? kind(path) : Optional.empty();
      if (stream.matches()) {
        refuse(
            exchange,
            NOT_IMPLEMENTED,
            "NotImplemented",
            stream.group(1) + ": not supported by the single-machine mode; use nsenter");
      } else if (known.isPresent()) {
        send(exchange, 200, known.get().toString());
      } else if (get && log.matches()) {
        log(exchange, log.group(1), log.group(2), query);
      } else if (kind.isPresent() && query.is("watch")) {
        watch(exchange, kind.get(), path, query);
      } else {
        handOn(exchange, kind.orElse(null));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "request " + exchange.getRequestURI(), e);
    }
  }

  private Optional<Kind> kind(String path) {
    Matcher objects = OBJECTS.matcher(path);
    return objects.matches()
        ? kinds.stream()
            .filter(it -> it.prefix().equals(objects.group(1)))
            .filter(it -> it.plural().equals(objects.group(3)))
            .findFirst()
        : Optional.empty();
  }

  private void watch(HttpExchange exchange, Kind kind, String path, Query query)
      throws IOException, InterruptedException {
    Matcher objects = OBJECTS.matcher(path);
    String namespace = objects.matches() && objects.group(2) != null ? objects.group(2) : "";
    boolean table = wantsTable(exchange);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    new WatchStream(exchange.getResponseBody(), it -> table ? tables.of(kind, it) : it)
        .run(client, kind, namespace, query);
  }

  private void log(HttpExchange exchange, String namespace, String pod, Query query)
      throws IOException {
    Optional<PodLogs.Log> log = logs.find(namespace, pod, query.get("container"));
    if (log.isEmpty()) {
      refuse(exchange, NOT_FOUND, "NotFound", "no output found for that container");
      return;
    }
    exchange.getResponseHeaders().set("Content-Type", "text/plain");
    exchange.sendResponseHeaders(200, 0);
    try (OutputStream out = exchange.getResponseBody()) {
      log.get().copyTo(out, query.get("tailLines"), query.is("follow"));
    }
  }

  private void handOn(HttpExchange exchange, @Nullable Kind kind)
      throws IOException, InterruptedException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    Query query = Query.of(exchange.getRequestURI().getRawQuery());
    boolean filtered = kind != null && !query.get(FIELDS).isEmpty();
    String target =
        filtered
            // The server behind it supports few fields.
            ? exchange.getRequestURI().getRawPath() + query.without(FIELDS)
            : exchange.getRequestURI().toString();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(behind.url() + target))
            .timeout(ANSWER)
            .header("Authorization", "Bearer " + behind.token())
            .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
    String type = exchange.getRequestHeaders().getFirst("Content-Type");
    if (type != null) {
      request.header("Content-Type", type);
    }
    HttpResponse<String> answer =
        http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    String text = answer.body();
    if (kind != null && answer.statusCode() == 200) {
      JsonNode objects = JSON.readTree(text);
      if (objects instanceof ObjectNode list && list.has("items")) {
        // A client that expects a typed list finds nothing in a plain List.
        list.put("kind", kind.kind() + "List").put("apiVersion", kind.apiVersion());
      }
      if (filtered) {
        new FieldSelector(query.get(FIELDS)).keepMatching(objects);
      }
      text = (wantsTable(exchange) ? tables.of(kind, objects) : objects).toString();
    }
    send(exchange, answer.statusCode(), text);
  }

  private static boolean wantsTable(HttpExchange exchange) {
    String accept = exchange.getRequestHeaders().getFirst("Accept");
    return accept != null && accept.contains("as=Table");
  }

  private static void refuse(HttpExchange exchange, int code, String reason, String message)
      throws IOException {
    ObjectNode status = JSON.createObjectNode().put("kind", "Status").put("apiVersion", "v1");
    status.put("status", "Failure").put("code", code).put("reason", reason);
    send(exchange, code, status.put("message", message).toString());
  }

  private static void send(HttpExchange exchange, int code, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
