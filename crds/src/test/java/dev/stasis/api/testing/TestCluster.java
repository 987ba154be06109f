package dev.stasis.api.testing;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The cluster of {@code KUBECONFIG}, and the guard before it: tests create, change and delete
 * cluster-wide objects, so they run only on a cluster that is marked as a test cluster. The mark is
 * {@code STASIS_TEST_CLUSTER=yes} in the environment or the label {@value #LABEL}{@code =true} of
 * the namespace {@code kube-system}.
 */
public final class TestCluster {

  /** Reason for which a test is skipped. */
  public static final String MISSING =
      "no API server: KUBECONFIG is not set; run the tests by bin/with-kube, or set KUBECONFIG to a"
          + " test cluster";

  static final String LABEL = "stasis.dev/test-cluster";

  private static final String MARK = "STASIS_TEST_CLUSTER";

  /** A request to a nearby API server takes milliseconds, under load up to some seconds. */
  private static final int REQUEST_MILLISECONDS = 20_000;

  /** An API server with a busy disk refuses requests now and then. */
  private static final int RETRIES = 3;

  private final Config config;
  private final boolean marked;

  TestCluster(Config config, Map<String, String> environment) {
    this.config = config;
    this.marked = "yes".equals(environment.get(MARK));
  }

  /** Returns the cluster that KUBECONFIG names; empty when it is not set. */
  public static Optional<TestCluster> fromEnvironment() {
    Map<String, String> environment = System.getenv();
    String kubeconfig = environment.get("KUBECONFIG");
    if (kubeconfig == null || kubeconfig.isBlank()) {
      return Optional.empty();
    }
    return Optional.of(new TestCluster(Config.autoConfigure(null), environment));
  }

  /**
   * Returns a client of the cluster that KUBECONFIG names. Aborts the test when KUBECONFIG is not
   * set.
   *
   * @throws AssertionError if the cluster is not marked as a test cluster
   */
  public static KubernetesClient connect() {
    Optional<TestCluster> cluster = fromEnvironment();
    if (cluster.isEmpty()) {
      Assumptions.abort(MISSING);
    }
    return cluster.orElseThrow().client();
  }

  /**
   * Returns a client; the caller closes it.
   *
   * @throws AssertionError if the cluster is not marked as a test cluster
   */
  public KubernetesClient client() {
    requireMark();
    return unguarded();
  }

  /**
   * Does nothing on a test cluster. It only reads from a cluster.
   *
   * @throws AssertionError if the cluster is not marked as a test cluster
   */
  public void requireMark() {
    if (marked) {
      return;
    }
    try (KubernetesClient client = unguarded()) {
      if (!isMarked(client.namespaces().withName("kube-system").get())) {
        throw new AssertionError(refusal("namespace kube-system has no label " + LABEL + "=true"));
      }
    } catch (KubernetesClientException e) {
      throw new AssertionError(refusal("namespace kube-system: " + e.getMessage()), e);
    }
  }

  private static boolean isMarked(@Nullable Namespace system) {
    return system != null
        && system.getMetadata().getLabels() != null
        && "true".equals(system.getMetadata().getLabels().get(LABEL));
  }

  private String refusal(String why) {
    return """
        %s is not marked as a test cluster: %s. These tests delete objects in all namespaces. \
        If you can lose everything that this cluster holds, run \
        "kubectl label namespace kube-system %s=true" or set %s=yes."""
        .formatted(config.getMasterUrl(), why, LABEL, MARK);
  }

  private KubernetesClient unguarded() {
    Config patient =
        new ConfigBuilder(config)
            .withRequestTimeout(REQUEST_MILLISECONDS)
            .withRequestRetryBackoffLimit(RETRIES)
            .build();
    return new KubernetesClientBuilder().withConfig(patient).build();
  }
}
