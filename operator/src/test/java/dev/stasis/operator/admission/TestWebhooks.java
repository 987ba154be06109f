package dev.stasis.operator.admission;

import static org.awaitility.Awaitility.await;

import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Webhooks of this process, asked by a real API server about one namespace. */
public final class TestWebhooks implements AutoCloseable {

  private static final Duration LONG = Duration.ofSeconds(120);

  /** The most that an API server waits. Afterwards it goes on as if there were no hook. */
  private static final int ANSWER_SECONDS = 30;

  private final KubernetesClient client;
  private final StasisConfig settings;
  private final String namespace;
  private final @Nullable Path certificates;
  private @Nullable Admission admission;

  private record Config(int port, String configuration, Optional<Path> certificates)
      implements WebhookConfig {

    @Override
    public boolean enabled() {
      return true;
    }

    @Override
    public String service() {
      return configuration;
    }

    @Override
    public Optional<String> url() {
      return Optional.of("https://127.0.0.1:" + port);
    }

    @Override
    public String secret() {
      return configuration;
    }
  }

  /** Says no to everything, so that one sees when the API server asks. */
  private record Canary() implements AdmissionHook {

    @Override
    public String path() {
      return "canary";
    }

    @Override
    public Verdict review(AdmissionRequest request) {
      return new Verdict.Denied("the canary sings");
    }
  }

  public TestWebhooks(KubernetesClient client, StasisConfig settings, String namespace) {
    this(client, settings, namespace, null);
  }

  /** Serves the key of the files in that folder; if it is null, the operator generates a key. */
  TestWebhooks(
      KubernetesClient client,
      StasisConfig settings,
      String namespace,
      @Nullable Path certificates) {
    this.client = client;
    this.settings = settings;
    this.namespace = namespace;
    this.certificates = certificates;
  }

  /** Settings of webhooks under that name. */
  public static WebhookConfig config(String configuration) {
    return new Config(0, configuration, Optional.empty());
  }

  /** The API server will ask that hook before such a resource is created. */
  public Admission start(Informers watches, AdmissionHook hook, String resource) {
    return start(watches, hook, "CREATE", resource);
  }

  /** The same before another operation. */
  public Admission start(Informers watches, AdmissionHook hook, String operation, String resource) {
    client
        .resource(
            new ValidatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .withName(namespace)
                .endMetadata()
                .withWebhooks(
                    webhook(hook.path(), operation, resource),
                    webhook("canary", "CREATE", "configmaps"))
                .build())
        .create();
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Admission started =
        new Admission(
            client,
            watches,
            new Config(port, namespace, Optional.ofNullable(certificates)),
            settings,
            Clock.systemUTC(),
            List.of(hook, new Canary()));
    started.start();
    admission = started;
    return started;
  }

  /** Nothing tells when an API server has read a webhook, but that another one of it refuses. */
  public void awaitAsked() {
    await().atMost(LONG).until(this::isAsked);
  }

  private boolean isAsked() {
    try {
      client
          .resource(
              new ConfigMapBuilder()
                  .withNewMetadata()
                  .withNamespace(namespace)
                  .withName("canary")
                  .endMetadata()
                  .build())
          .dryRun()
          .create();
      return false;
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage()).contains("the canary sings");
    }
  }

  private ValidatingWebhook webhook(String path, String operation, String resource) {
    return new ValidatingWebhookBuilder()
        .withName(path + ".stasis.dev")
        .withNewClientConfig()
        .withUrl("https://127.0.0.1:1/" + path)
        .endClientConfig()
        .withRules(
            new RuleWithOperationsBuilder()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations(operation)
                .withResources(resource)
                .build())
        .withNewNamespaceSelector()
        .addToMatchLabels("kubernetes.io/metadata.name", namespace)
        .endNamespaceSelector()
        .withFailurePolicy("Ignore")
        .withTimeoutSeconds(ANSWER_SECONDS)
        .withSideEffects("NoneOnDryRun")
        .withAdmissionReviewVersions("v1")
        .build();
  }

  /** Posts a review to a hook as any pod of the cluster can, and returns the status code. */
  public int post(String path, String review) {
    io.fabric8.kubernetes.client.Config anyone =
        new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty())
            .withMasterUrl("https://127.0.0.1:" + Objects.requireNonNull(admission).port())
            .withTrustCerts(true)
            .withRequestRetryBackoffLimit(0)
            .build();
    try (KubernetesClient pod = new KubernetesClientBuilder().withConfig(anyone).build()) {
      pod.raw(path, "POST", review);
      return HttpURLConnection.HTTP_OK;
    } catch (KubernetesClientException e) {
      return e.getCode();
    }
  }

  /** The path of a hook in what the operator wrote into the webhook configuration. */
  public String path(String hook) {
    return client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName(namespace)
        .get()
        .getWebhooks()
        .stream()
        .filter(webhook -> webhook.getName().equals(hook + ".stasis.dev"))
        .map(webhook -> URI.create(webhook.getClientConfig().getUrl()).getPath())
        .findFirst()
        .orElseThrow();
  }

  /** Nobody answers any more. */
  public void stop() {
    if (admission != null) {
      admission.stop();
    }
  }

  @Override
  public void close() {
    stop();
    client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName(namespace)
        .delete();
  }
}
