package dev.stasis.e2e.kube;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Takes traces as OpenTelemetry's collector does (OTLP over HTTP, JSON), and keeps them. */
final class Collector implements AutoCloseable {

  private static final int OK = 200;

  /** A span, and which program told of it. */
  record Told(String service, String traceId, String spanId, String parentId, String name) {}

  private final ObjectMapper json = new ObjectMapper();
  private final Queue<Told> spans = new ConcurrentLinkedQueue<>();
  private final HttpServer server;

  private Collector(HttpServer server) {
    this.server = server;
  }

  static Collector start() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      Collector collector = new Collector(server);
      server.createContext("/v1/traces", collector::take);
      server.start();
      return collector;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** The spans of that trace so far. */
  List<Told> trace(String traceId) {
    return spans.stream().filter(span -> span.traceId().equals(traceId)).toList();
  }

  private void take(HttpExchange exchange) throws IOException {
    for (JsonNode program : json.readTree(exchange.getRequestBody()).path("resourceSpans")) {
      String service = "";
      for (JsonNode attribute : program.path("resource").path("attributes")) {
        if (attribute.path("key").asText().equals("service.name")) {
          service = attribute.path("value").path("stringValue").asText();
        }
      }
      for (JsonNode scope : program.path("scopeSpans")) {
        for (JsonNode span : scope.path("spans")) {
          spans.add(
              new Told(
                  service,
                  span.path("traceId").asText(),
                  span.path("spanId").asText(),
                  span.path("parentSpanId").asText(),
                  span.path("name").asText()));
        }
      }
    }
    exchange.sendResponseHeaders(OK, -1);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
