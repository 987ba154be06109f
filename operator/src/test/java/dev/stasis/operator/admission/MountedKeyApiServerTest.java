package dev.stasis.operator.admission;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Webhooks with a key that is issued elsewhere; the test plays issuer, injector and kubelet. */
@SuppressWarnings("NullAway") // made before each test
@OnTestCluster(definitions = true)
class MountedKeyApiServerTest {

  private static final Duration LONG = Duration.ofSeconds(120);

  @TempDir private Path folder;

  private RealCluster cluster;
  private KubernetesClient client;
  private String namespace;
  private TestAuthority authority;
  private Informers informers;
  private TestWebhooks webhooks;
  private Admission admission;

  /** Changes nothing. */
  private record Hook() implements AdmissionHook {

    @Override
    public String path() {
      return "evict";
    }

    @Override
    public Verdict review(AdmissionRequest request) {
      return Verdict.allowed();
    }
  }

  @BeforeEach
  void open() throws Exception {
    cluster = RealCluster.fromEnvironment();
    client = cluster.client();
    namespace = cluster.namespace(Map.of());
    authority = new TestAuthority(folder);
    informers = new Informers(client, cluster.config());
    webhooks = new TestWebhooks(client, cluster.config(), namespace, folder);
  }

  @AfterEach
  void close() {
    webhooks.close();
    informers.stop();
    client.namespaces().withName(namespace).delete();
    cluster.close();
  }

  @Test
  void aKeyFromFilesIsServedAndARenewedOneIsTakenOverWithoutARestart() throws Exception {
    X509Certificate first = authority.issue(inADay());
    start();
    webhooks.awaitAsked();
    assertThat(served()).isEqualTo(first);
    String path = webhooks.path("evict");

    X509Certificate second = authority.issue(inADay());
    await().atMost(LONG).untilAsserted(() -> assertThat(served()).isEqualTo(second));
    webhooks.awaitAsked();
    assertThat(webhooks.path("evict")).isEqualTo(path);
    assertThat(secrets()).as("Secrets of the operator").isEmpty();
  }

  @Test
  void certificatesThatAnInjectorWroteAreKeptAndALostTokenIsRestored() throws Exception {
    authority.issue(inADay());
    start();
    webhooks.awaitAsked();
    assertThat(bundle()).as("before the injector").isEqualTo(authority.root());
    String token = token();
    String path = webhooks.path("evict");

    String injected = authority.root() + new TestAuthority(folder).root();
    client
        .resource(configuration())
        .edit(
            it ->
                new ValidatingWebhookConfigurationBuilder(it)
                    .editMetadata()
                    .removeFromAnnotations(PathToken.ANNOTATION)
                    .endMetadata()
                    .editMatchingWebhook(webhook -> webhook.getName().equals("evict.stasis.dev"))
                    .editClientConfig()
                    .withCaBundle(Base64.getEncoder().encodeToString(injected.getBytes(US_ASCII)))
                    .withUrl("https://127.0.0.1:1")
                    .endClientConfig()
                    .endWebhook()
                    .build());

    await().atMost(LONG).untilAsserted(() -> assertThat(webhooks.path("evict")).isEqualTo(path));
    assertThat(token()).isEqualTo(token);
    assertThat(bundle()).isEqualTo(injected);
    webhooks.awaitAsked();
  }

  private void start() {
    admission = webhooks.start(informers, new Hook(), "pods");
  }

  private static Instant inADay() {
    return Instant.now().plus(Duration.ofDays(1));
  }

  private ValidatingWebhookConfiguration configuration() {
    return client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName(namespace)
        .get();
  }

  private String token() {
    return configuration().getMetadata().getAnnotations().get(PathToken.ANNOTATION);
  }

  private String bundle() {
    return configuration().getWebhooks().stream()
        .filter(webhook -> webhook.getName().equals("evict.stasis.dev"))
        .map(webhook -> webhook.getClientConfig().getCaBundle())
        .map(encoded -> new String(Base64.getDecoder().decode(encoded), US_ASCII))
        .findFirst()
        .orElseThrow();
  }

  /** The certificate that a new connection gets, verified up to the root. */
  private X509Certificate served() throws Exception {
    try (SSLSocket socket = (SSLSocket) authority.trusting().getSocketFactory().createSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), admission.port()));
      socket.setSoTimeout((int) LONG.toMillis());
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }

  private List<Secret> secrets() {
    return client.secrets().inNamespace(cluster.config().namespace()).list().getItems();
  }
}
