package dev.stasis.operator.testing;

import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/**
 * A real API server with the committed definitions. Which one says {@code KUBECONFIG}; without it
 * there is none, and the tests say so. A scheduler belongs to it, kubelets do not.
 */
public final class RealCluster implements AutoCloseable {

  private static final Path DEFINITIONS = Path.of("../crds/src/main/resources/crds");

  /** A request to an API server nearby takes milliseconds; one under load still answers by then. */
  private static final int REQUEST_MILLISECONDS = 20_000;

  /** An API server whose disk is busy refuses now and then. */
  private static final int RETRIES = 3;

  /** A definition is served a second after it was made; etcd on a slow disk takes longer. */
  private static final long SERVED_SECONDS = 60;

  private final KubernetesClient client;
  private final String system;

  private RealCluster(KubernetesClient client, String system) {
    this.client = client;
    this.system = system;
  }

  /** The one that KUBECONFIG names; aborts the test when there is none. */
  public static RealCluster fromEnvironment() {
    String kubeconfig = System.getenv("KUBECONFIG");
    if (kubeconfig == null || kubeconfig.isBlank()) {
      String why = "skipped: no API server, KUBECONFIG is not set; see bin/with-kube";
      System.err.println(why);
      Assumptions.abort(why);
    }
    Config config =
        new ConfigBuilder(Config.autoConfigure(null))
            .withRequestTimeout(REQUEST_MILLISECONDS)
            .withRequestRetryBackoffLimit(RETRIES)
            .build();
    KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
    try (Stream<Path> files = Files.list(DEFINITIONS)) {
      List<Path> definitions = files.filter(file -> file.toString().endsWith(".yaml")).toList();
      for (Path file : definitions) {
        define(client, Files.readString(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new RealCluster(client, namespace(client, Map.of()));
  }

  private static void define(KubernetesClient client, String yaml) {
    CustomResourceDefinition definition =
        client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
    var resource = client.apiextensions().v1().customResourceDefinitions().resource(definition);
    resource.forceConflicts().serverSideApply();
    resource.waitUntilCondition(
        it ->
            it != null
                && it.getStatus() != null
                && it.getStatus().getConditions() != null
                && it.getStatus().getConditions().stream()
                    .anyMatch(
                        condition ->
                            condition.getType().equals("Established")
                                && condition.getStatus().equals("True")),
        SERVED_SECONDS,
        TimeUnit.SECONDS);
    // Established says that it is known; lists are refused for a moment longer.
    var context = CustomResourceDefinitionContext.fromCrd(definition);
    Awaitility.await()
        .atMost(Duration.ofSeconds(SERVED_SECONDS))
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> client.genericKubernetesResources(context).list() != null);
  }

  private static String namespace(KubernetesClient client, Map<String, String> labels) {
    String name =
        client
            .namespaces()
            .resource(
                new NamespaceBuilder()
                    .withNewMetadata()
                    .withGenerateName("stasis-test-")
                    .withLabels(labels)
                    .endMetadata()
                    .build())
            .create()
            .getMetadata()
            .getName();
    // Pods are refused until it is there.
    client
        .serviceAccounts()
        .inNamespace(name)
        .withName("default")
        .waitUntilCondition(it -> it != null, SERVED_SECONDS, TimeUnit.SECONDS);
    return name;
  }

  public KubernetesClient client() {
    return client;
  }

  /** Settings with a namespace of our own for operations. */
  public StasisConfig config() {
    return new TestConfig(system);
  }

  /** A namespace for one test. */
  public String namespace(Map<String, String> labels) {
    return namespace(client, labels);
  }

  /**
   * Writes what others write too, the controllers of the cluster for example: until it is taken.
   */
  public static void beside(Runnable write) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(SERVED_SECONDS))
        .ignoreExceptionsMatching(
            e ->
                e instanceof KubernetesClientException refused
                    && refused.getCode() == HttpURLConnection.HTTP_CONFLICT)
        .until(
            () -> {
              write.run();
              return true;
            });
  }

  /** Creates an object and, where it has one, writes its status. */
  public <T extends HasMetadata> T with(T object) {
    T created = client.resource(object).create();
    object.getMetadata().setResourceVersion(created.getMetadata().getResourceVersion());
    return client.resource(object).updateStatus();
  }

  /**
   * Takes away what other tests have left of these kinds, in all namespaces, and waits until it is
   * gone: for tests of what looks at the whole cluster. Finalizers of operators that have ended go
   * too.
   */
  public void alone(List<Class<? extends HasMetadata>> kinds) {
    for (Class<? extends HasMetadata> kind : kinds) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(SERVED_SECONDS))
          .until(
              () -> {
                var left = client.resources(kind).inAnyNamespace().list().getItems();
                left.forEach(this::away);
                return left.isEmpty();
              });
    }
  }

  private void away(HasMetadata object) {
    client.resource(object).delete();
    try {
      client
          .resource(object)
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}");
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  @Override
  public void close() {
    client.namespaces().withName(system).delete();
    client.close();
  }
}
