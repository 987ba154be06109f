package dev.stasis.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OtlpExporterTest {

  private static final String UID = "6f1c0a9e-0f3b-4c55-9d7e-2b8f00c0ffee";
  private static final Instant T = Instant.parse("2026-11-21T10:00:00.25Z");

  private static Span span(Optional<String> error) {
    SpanContext root = SpanContext.of(UID, "GpuCheckpoint");
    return new Span(
        root.child("lock"),
        Optional.of(root.spanId()),
        "lock",
        T,
        T.plusMillis(12),
        Map.of("k8s.namespace.name", "ml"),
        error);
  }

  @Test
  void aSpanReachesTheCollectorAsItsProtocolHasIt() throws Exception {
    BlockingQueue<String> taken = new LinkedBlockingQueue<>();
    HttpServer collector = collector(taken);
    try (OtlpExporter exporter =
        new OtlpExporter(
            "http://127.0.0.1:" + collector.getAddress().getPort() + "/",
            Map.of("service.name", "stasis-agent"))) {
      exporter.add(span(Optional.of("a \"driver\"\nhangs")));
      String body = taken.poll(60, TimeUnit.SECONDS);
      assertThat(body)
          .startsWith(
              "/v1/traces application/json"
                  + " {\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"stasis-agent\"}}]}")
          .contains("\"traceId\":\"6f1c0a9e0f3b4c559d7e2b8f00c0ffee\"")
          .contains("\"startTimeUnixNano\":\"1795255200250000000\"")
          .contains("\"endTimeUnixNano\":\"1795255200262000000\"")
          .contains("\"message\":\"a \\\"driver\\\"\\u000ahangs\"");
    } finally {
      collector.stop(0);
    }
  }

  @Test
  void remainingSpansAreExportedAtTheEnd() throws Exception {
    BlockingQueue<String> taken = new LinkedBlockingQueue<>();
    HttpServer collector = collector(taken);
    try {
      OtlpExporter exporter =
          new OtlpExporter("http://127.0.0.1:" + collector.getAddress().getPort(), Map.of());
      // A JVM's first request takes a while on a busy machine; at the end there is little time.
      exporter.add(span(Optional.empty()));
      assertThat(taken.poll(60, TimeUnit.SECONDS)).isNotNull();
      exporter.add(span(Optional.empty()));
      exporter.close();
      assertThat(taken.poll(60, TimeUnit.SECONDS)).isNotNull();
    } finally {
      collector.stop(0);
    }
  }

  /** It takes connections and never answers, so what waits to be sent only grows. */
  @Test
  void aCollectorThatNeverAnswersCostsNoWork() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        OtlpExporter exporter =
            new OtlpExporter("http://127.0.0.1:" + silent.getLocalPort(), Map.of())) {
      // An add that waited for the collector would wait for its time limit, 10 s, again and again.
      assertTimeoutPreemptively(
          Duration.ofSeconds(8),
          () -> {
            for (int i = 0; i < 10_000; i++) {
              exporter.add(span(Optional.empty()));
            }
          });
    }
  }

  @Test
  void anInvalidEndpointIsRefused() {
    assertThatThrownBy(() -> new OtlpExporter("collector:4317", Map.of()))
        .hasMessageContaining("expected http://HOST:PORT or https, got collector:4317");
  }

  @Test
  void aContextIsTheSameForTheSameThingAndReadBack() {
    SpanContext one = SpanContext.of(UID, "GpuCheckpoint");
    assertThat(SpanContext.of(UID, "GpuCheckpoint")).isEqualTo(one);
    assertThat(one.traceparent()).matches("00-6f1c0a9e0f3b4c559d7e2b8f00c0ffee-[0-9a-f]{16}-01");
    assertThat(SpanContext.parse(one.traceparent())).hasValue(one);
    assertThat(SpanContext.parse("nonsense")).isEmpty();
    assertThat(one.child("lock")).isNotEqualTo(one.child("dump"));
  }

  private static HttpServer collector(BlockingQueue<String> taken) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          taken.add(
              exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Content-Type")
                  + " "
                  + body);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    return server;
  }
}
