package dev.stasis.operator.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.SetClock;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

@OnTestCluster
class RefusedRequestApiServerTest {

  /** For a quota that the caches of a busy API server have to observe. */
  private static final Duration LONG = Duration.ofSeconds(60);

  @Test
  void aRefusalIsRepeatedFromMemoryAndQuestionedTenSecondsLater() {
    SetClock clock = new SetClock();
    try (RealCluster cluster = RealCluster.fromEnvironment()) {
      String namespace = cluster.namespace(Map.of());
      String quota =
          """
          {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-secrets"},
           "spec": {"hard": {"count/secrets": "0"}}}
          """;
      cluster.client().resource(quota).inNamespace(namespace).create();
      RequestWrites writes = new ClusterRequestWrites(cluster.client(), clock);
      AtomicInteger attempts = new AtomicInteger();
      await()
          .atMost(LONG)
          .until(() -> writes.create(secret(namespace, attempts.incrementAndGet())).isPresent());
      Secret secret = secret(namespace, attempts.get());

      cluster.client().resource(quota).inNamespace(namespace).delete();
      assertThat(writes.create(secret).orElseThrow()).contains("no-secrets");

      await()
          .atMost(LONG)
          .until(
              () -> {
                clock.ahead(Duration.ofSeconds(10));
                return writes.create(secret).isEmpty();
              });
      assertThat(cluster.client().resource(secret).get()).isNotNull();
      assertThat(writes.create(secret)).as("it exists").isEmpty();
      cluster.client().namespaces().withName(namespace).delete();
    }
  }

  private static Secret secret(String namespace, int number) {
    return new SecretBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName("secret-" + number)
        .endMetadata()
        .build();
  }
}
