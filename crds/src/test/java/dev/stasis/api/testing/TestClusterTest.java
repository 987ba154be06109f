package dev.stasis.api.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cluster is an HTTP server that answers with one namespace and records each request. */
class TestClusterTest {

  private static final Map<String, String> UNSET = Map.of();

  private final List<String> requests = new CopyOnWriteArrayList<>();
  private String labels = "{}";

  @SuppressWarnings("NullAway.Init") // made before each test
  private HttpServer server;

  @BeforeEach
  void listen() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
      byte[] body =
          """
          {"apiVersion": "v1", "kind": "Namespace",
           "metadata": {"name": "kube-system", "labels": %s}}"""
              .formatted(labels)
              .getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  @Test
  void anUnmarkedClusterIsRefusedByNameAndKeepsItsObjects() {
    assertThatThrownBy(() -> cluster(UNSET).client())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("http://127.0.0.1:" + server.getAddress().getPort())
        .hasMessageContaining("kubectl label namespace kube-system stasis.dev/test-cluster=true")
        .hasMessageContaining("STASIS_TEST_CLUSTER=yes");
    assertThat(requests).containsExactly("GET /api/v1/namespaces/kube-system");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{\"stasis.dev/test-cluster\": \"false\"}", "{\"test-cluster\": \"true\"}"})
  void anotherLabelIsNoMark(String other) {
    labels = other;
    assertThatThrownBy(() -> cluster(UNSET).requireMark()).isInstanceOf(AssertionError.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "no", "true"})
  void anotherValueInTheEnvironmentIsNoMark(String other) {
    assertThatThrownBy(() -> cluster(Map.of("STASIS_TEST_CLUSTER", other)).requireMark())
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void aClusterThatDoesNotAnswerIsRefused() {
    server.stop(0);
    assertThatThrownBy(() -> cluster(UNSET).client())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("is not marked as a test cluster");
  }

  @Test
  void aLabelledClusterIsTaken() {
    labels = "{\"stasis.dev/test-cluster\": \"true\"}";
    try (KubernetesClient client = cluster(UNSET).client()) {
      assertThat(client.namespaces().withName("kube-system").get()).isNotNull();
    }
  }

  @Test
  void theEnvironmentMarksAClusterWithoutARequest() {
    assertThatCode(() -> cluster(Map.of("STASIS_TEST_CLUSTER", "yes")).requireMark())
        .doesNotThrowAnyException();
    assertThat(requests).isEmpty();
  }

  private TestCluster cluster(Map<String, String> environment) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
            .build();
    return new TestCluster(config, environment);
  }
}
