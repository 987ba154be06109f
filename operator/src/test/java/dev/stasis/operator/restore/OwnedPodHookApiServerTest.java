package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.owner.OwnerParts;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The answers about pods that controllers make, with checkpoints on a real API server. */
@OnTestCluster(definitions = true)
class OwnedPodHookApiServerTest {

  @SuppressWarnings("NullAway.Init") // made before each test
  private RealCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private String namespace;

  @SuppressWarnings("NullAway.Init") // made before each test
  private OwnedPodHook hook;

  @BeforeEach
  void begin() {
    cluster = RealCluster.fromEnvironment();
    namespace = cluster.namespace(Map.of());
    FakeCluster nodes = new FakeCluster();
    nodes.gpuNodes.add(Examples.gpuNode("gpu-1", Instant.now()));
    nodes.nodes.add(RestoreScenario.node("gpu-1", false));
    hook =
        new OwnedPodHook(
            cluster.client(),
            new RestoreTargets(
                nodes,
                new Targets(cluster.client()),
                new TargetPods(nodes, new Targets(cluster.client())),
                cluster.config()),
            OwnerParts.moves(cluster.client(), cluster.config()),
            Clock.systemUTC());
    evicted("train", "owner-a");
    evicted("other", "owner-b");
  }

  @AfterEach
  void end() {
    cluster.client().namespaces().withName(namespace).delete();
    cluster.close();
  }

  @Test
  void theNextPodOfAnEvictedOnesControllerBecomesTheTargetAndNoOther() {
    assertThat(review(owned("trainer-x", "owner-a"))).isInstanceOf(Verdict.Changed.class);
    assertThat(review(owned("trainer-y", "owner-c"))).isInstanceOf(Verdict.Allowed.class);
    assertThat(review(Examples.pod(namespace, "alone"))).isInstanceOf(Verdict.Allowed.class);
  }

  private Verdict review(Pod pod) {
    AdmissionRequest request = new AdmissionRequest();
    request.setNamespace(namespace);
    request.setObject(pod);
    return hook.review(request);
  }

  private void evicted(String name, String owner) {
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, name);
    checkpoint.getMetadata().setUid(null);
    checkpoint.getStatus().setPodTemplate(Examples.template(owned("trainer", owner)));
    List<Condition> conditions =
        new ArrayList<>(Objects.requireNonNull(checkpoint.getStatus().getConditions()));
    conditions.add(
        new Condition("SourceRunning", ConditionValue.FALSE, "Evicted", "", Instant.EPOCH, 1L));
    checkpoint.getStatus().setConditions(conditions);
    cluster.with(checkpoint);
  }

  private Pod owned(String name, String owner) {
    return new PodBuilder(Examples.pod(namespace, name))
        .editMetadata()
        .addNewOwnerReference()
        .withApiVersion("apps/v1")
        .withKind("ReplicaSet")
        .withName("trainer")
        .withUid(owner)
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .build();
  }
}
