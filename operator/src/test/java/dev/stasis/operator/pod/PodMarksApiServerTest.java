package dev.stasis.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is said on pods, on a real API server. */
@OnTestCluster(definitions = true)
class PodMarksApiServerTest {

  @Test
  void aMarkThatTheWatchDoesNotShowYetIsTakenBack() {
    try (RealCluster cluster = RealCluster.fromEnvironment()) {
      String namespace = cluster.namespace(Map.of());
      Pod before =
          cluster
              .client()
              .resource(
                  new PodBuilder()
                      .withNewMetadata()
                      .withNamespace(namespace)
                      .withName("trainer")
                      .endMetadata()
                      .withNewSpec()
                      .addNewSchedulingGate("test/stays")
                      .addNewContainer()
                      .withName("main")
                      .withImage("registry.example/train:1")
                      .endContainer()
                      .endSpec()
                      .build())
              .create();
      PodWrites writes = new ClusterPodWrites(cluster.client(), Clock.systemUTC());

      writes.condition(before, PodConditionUpdate.frozen("Frozen", "frozen by a test"));
      assertThat(frozen(cluster, before)).isEqualTo("True");

      writes.condition(before, PodConditionUpdate.notFrozen("Resumed", "the workload goes on"));
      assertThat(frozen(cluster, before)).isEqualTo("False");
      cluster.client().namespaces().withName(namespace).delete();
    }
  }

  private static String frozen(RealCluster cluster, Pod pod) {
    return cluster.client().resource(pod).get().getStatus().getConditions().stream()
        .filter(condition -> condition.getType().equals("stasis.dev/Frozen"))
        .map(PodCondition::getStatus)
        .findFirst()
        .orElse("none");
  }
}
