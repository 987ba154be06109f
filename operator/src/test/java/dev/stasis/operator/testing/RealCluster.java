package dev.stasis.operator.testing;

import dev.stasis.api.testing.TestCluster;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** The test cluster with the committed definitions. It has a scheduler, but no kubelets. */
public final class RealCluster implements AutoCloseable {

  /** The controllers of a cluster take a second or two; on a slow disk they take longer. */
  private static final long SERVED_SECONDS = 60;

  private final KubernetesClient client;
  private final String system;

  private RealCluster(KubernetesClient client, String system) {
    this.client = client;
    this.system = system;
  }

  /** Connects to the test cluster, which serves the definitions already. */
  public static RealCluster fromEnvironment() {
    KubernetesClient client = TestCluster.connect();
    return new RealCluster(client, create(client, Map.of()));
  }

  private static String create(KubernetesClient client, Map<String, String> labels) {
    return client
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
  }

  private static String namespace(KubernetesClient client, Map<String, String> labels) {
    String name = create(client, labels);
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

  /** Returns a name for a cluster-wide object of a test, unique by the namespace of that test. */
  public static String name(String of, String namespace) {
    return of + namespace.substring(namespace.lastIndexOf('-'));
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

  @Override
  public void close() {
    client.namespaces().withName(system).delete();
    client.close();
  }
}
