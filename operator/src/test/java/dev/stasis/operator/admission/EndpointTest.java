package dev.stasis.operator.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReview;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // made before each test
class EndpointTest {

  private static final String REVIEW =
      """
      {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
       "request": {"uid": "705ab4f5", "name": "trainer", "namespace": "ml", "operation": "CREATE",
                   "kind": {"group": "policy", "version": "v1", "kind": "Eviction"},
                   "object": {"apiVersion": "policy/v1", "kind": "Eviction",
                              "metadata": {"name": "trainer", "namespace": "ml"},
                              "deleteOptions": {"dryRun": ["All"]}}}}
      """;

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final ServingKeyManager keys = new ServingKeyManager();
  private final ServingKey key = ServingKey.generate(Set.of("127.0.0.1"), Instant.now());
  private final AtomicInteger asked = new AtomicInteger();
  private HookPaths paths;
  private Function<AdmissionRequest, Verdict> says = request -> Verdict.allowed("mind the gap");
  private Endpoint endpoint;

  @BeforeEach
  void open() throws Exception {
    AdmissionHook hook =
        new AdmissionHook() {
          @Override
          public String path() {
            return "evict";
          }

          @Override
          public Verdict review(AdmissionRequest request) {
            asked.incrementAndGet();
            return says.apply(request);
          }
        };
    paths = new HookPaths(List.of(hook));
    endpoint = Endpoint.open(0, keys, paths, new Reviews(serialization));
    keys.serve(key);
    paths.accept(Set.of(key.token()));
  }

  @AfterEach
  void close() {
    endpoint.close();
  }

  @Test
  void theEndpointVerifiesItsOwnCertificate() throws Exception {
    endpoint.shakeHands(keys);
    ServingKeyManager others = new ServingKeyManager();
    others.serve(ServingKey.generate(Set.of("127.0.0.1"), Instant.now()));

    assertThatThrownBy(() -> endpoint.shakeHands(others)).isInstanceOf(SSLException.class);
  }

  @Test
  void aReviewIsAnsweredOverTls() throws Exception {
    AdmissionResponse response = answer(key);
    assertThat(response.getUid()).isEqualTo("705ab4f5");
    assertThat(response.getAllowed()).isTrue();
    assertThat(response.getWarnings()).containsExactly("mind the gap");
  }

  @Test
  void aRefusalHasItsCodeAndItsSentence() throws Exception {
    says = request -> new Verdict.NotNow(request.getName() + " is being saved");
    AdmissionResponse response = answer(key);
    assertThat(response.getAllowed()).isFalse();
    assertThat(response.getStatus().getCode()).isEqualTo(429);
    assertThat(response.getStatus().getMessage()).isEqualTo("trainer is being saved");
  }

  @Test
  void aRenewedKeyIsServedWithoutARestart() throws Exception {
    ServingKey next = ServingKey.generate(Set.of("127.0.0.1"), Instant.now());
    keys.serve(next);
    assertThat(answer(next).getAllowed()).isTrue();
  }

  @Test
  void anInternalErrorIsNotARefusal() throws Exception {
    says =
        request -> {
          throw new IllegalStateException("a mistake");
        };
    assertThat(post(key, REVIEW).statusCode()).isEqualTo(500);
    assertThat(post(key, "{}").statusCode()).isEqualTo(400);
  }

  @Test
  void aKeptConnectionThatTheApiServerClosedIsNoReasonToFail() throws Exception {
    try (ClosingApiServer server = ClosingApiServer.open();
        KubernetesClient client =
            new KubernetesClientBuilder().withConfig(server.config()).build()) {
      says =
          request ->
              Verdict.allowed(
                  client.pods().inNamespace("ml").list().getItems().size() + " pods there");
      for (int time = 0; time < 3; time++) {
        assertThat(answer(key).getWarnings()).containsExactly("0 pods there");
      }
    }
  }

  @Test
  void aRequestWithoutTheTokenReachesNoHook() throws Exception {
    String right = HookPaths.path(key.token(), "evict");
    String other = HookPaths.path(key.token(), "handover").replace("handover", "evict");
    for (String path :
        List.of("/", "/evict", "//evict", "/x" + right, right + "/", "/x/evict", other)) {
      assertThat(post(key, path, REVIEW).statusCode()).as(path).isEqualTo(404);
    }
    assertThat(asked).hasValue(0);
    assertThat(post(key, right + "?timeout=3s", REVIEW).statusCode()).isEqualTo(200);
  }

  @Test
  void aBodyThatIsTooLargeIsRefused() throws Exception {
    assertThat(post(key, "x".repeat((8 << 20) + 1)).statusCode()).isEqualTo(413);
    assertThat(asked).hasValue(0);
  }

  @Test
  void connectionsThatSendAByteEachKeepNobodyFromAnAnswer() throws Exception {
    try (SlowConnections slow = new SlowConnections(endpoint.port(), keys.trusting())) {
      slow.open(32, SlowConnections.Until.BEFORE_THE_HANDSHAKE);
      slow.open(32, SlowConnections.Until.IN_THE_HEAD);
      slow.open(32, SlowConnections.Until.IN_THE_BODY);
      slow.open(32, SlowConnections.Until.IN_THE_BODY, HookPaths.path(key.token(), "evict"));
      long begin = System.nanoTime();
      assertThat(answer(key).getAllowed()).isTrue();
      // The timeout of the chart's webhooks.
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(3));
    }
  }

  private AdmissionResponse answer(ServingKey trusted) throws Exception {
    HttpResponse<String> answer = post(trusted, REVIEW);
    assertThat(answer.statusCode()).isEqualTo(200);
    return Objects.requireNonNull(
        serialization.unmarshal(answer.body(), AdmissionReview.class).getResponse());
  }

  private HttpResponse<String> post(ServingKey trusted, String body) throws Exception {
    return post(trusted, HookPaths.path(key.token(), "evict"), body);
  }

  private HttpResponse<String> post(ServingKey trusted, String path, String body) throws Exception {
    ServingKeyManager anchors = new ServingKeyManager();
    anchors.serve(trusted);
    HttpClient client = HttpClient.newBuilder().sslContext(anchors.trusting()).build();
    return client.send(
        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + endpoint.port() + path))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
