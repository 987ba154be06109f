package dev.stasis.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A pod is deleted and recreated under its name between the operator's read and its write. */
@OnTestCluster(definitions = true)
class RecreatedPodApiServerTest {

  private static final Quantity MORE = new Quantity("2Gi");

  @SuppressWarnings("NullAway.Init") // made before each test
  private RealCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private String namespace;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Pod read;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Pod recreated;

  @BeforeEach
  void recreate() {
    cluster = RealCluster.fromEnvironment();
    namespace = cluster.namespace(Map.of());
    read = cluster.client().resource(pod()).create();
    cluster.client().resource(read).withGracePeriod(0).delete();
    recreated = cluster.client().resource(pod()).create();
  }

  @AfterEach
  void remove() {
    cluster.client().namespaces().withName(namespace).delete();
    cluster.close();
  }

  @Test
  void theRecreatedPodIsNotEvicted() {
    PodWrites.Answer answer = writes().evict(read, false);

    assertThat(answer).isInstanceOf(PodWrites.Refused.class);
    assertUntouched();
  }

  @Test
  void theRecreatedPodGetsNoMark() {
    writes().condition(read, PodConditionUpdate.frozen("Frozen", "frozen by a test"));

    assertUntouched();
  }

  @Test
  void theRecreatedPodKeepsTheLabelsByWhichItsJobFindsIt() {
    new JobPods(cluster.client()).release(read);

    assertUntouched();
  }

  @Test
  void theRecreatedPodIsNotResized() {
    Pod resized =
        new PodBuilder(read)
            .editSpec()
            .editFirstContainer()
            .editResources()
            .addToLimits("memory", MORE)
            .addToRequests("memory", MORE)
            .endResources()
            .endContainer()
            .endSpec()
            .build();

    assertThat(writes().resize(resized, false)).isInstanceOf(PodWrites.Refused.class);

    assertUntouched();
  }

  @Test
  void theRecreatedTargetIsNotRemoved() {
    new Targets(cluster.client()).remove(read);

    assertUntouched();
  }

  @Test
  void theRecreatedTargetIsNotChanged() {
    read.getMetadata().setAnnotations(Map.of("test/changed", "yes"));
    read.getMetadata().setLabels(Map.of("controller-uid", "another-job"));

    assertThat(new Targets(cluster.client()).change(read)).isInstanceOf(Targets.Taken.class);

    assertUntouched();
  }

  private PodWrites writes() {
    return new ClusterPodWrites(cluster.client(), Clock.systemUTC());
  }

  private void assertUntouched() {
    Pod now = cluster.client().resource(recreated).get();
    assertThat(now).isNotNull();
    assertThat(now.getMetadata().getUid()).isEqualTo(recreated.getMetadata().getUid());
    assertThat(now.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(now.getMetadata().getLabels()).containsEntry("controller-uid", "a-job");
    assertThat(now.getMetadata().getAnnotations())
        .isEqualTo(recreated.getMetadata().getAnnotations());
    assertThat(now.getSpec()).isEqualTo(recreated.getSpec());
    assertThat(now.getStatus().getConditions())
        .noneMatch(condition -> condition.getType().equals("stasis.dev/Frozen"));
  }

  /** A scheduling gate keeps the scheduler away from it. */
  private Pod pod() {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName("trainer")
        .addToLabels("controller-uid", "a-job")
        .endMetadata()
        .withNewSpec()
        .addNewSchedulingGate("test/stays")
        .addNewContainer()
        .withName("main")
        .withImage("registry.example/train:1")
        .withNewResources()
        .addToLimits("memory", new Quantity("1Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
