package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ColdStartPolicy;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.testing.FakeAgent;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what is not there fails the test
class RestoreOnApiServerTest extends OnApiServer {

  @Test
  void aReadyCheckpointIsRestoredAndTheGateOpensOnlyWithTheProof() {
    checkpoint();
    restore(spec -> {});

    GpuRestore restoring = until(it -> phase(it) == RestorePhase.RESTORING);
    assertThat(gate(target())).isNull();
    assertThat(condition(restoring, "Succeeded").status()).isEqualTo(ConditionValue.FALSE);
    agent.ends(first, Examples::proven);

    GpuRestoreStatus status = until(it -> phase(it) == RestorePhase.SUCCEEDED).getStatus();
    assertThat(gate(target())).isEqualTo("True");
    assertThat(status.getPod().name()).isEqualTo("trainer");
    assertThat(status.getPod().node()).isEqualTo(first);
    assertThat(status.getReason()).isEqualTo("Proven");
    assertThat(status.getTimings().getTook()).isNotNull();
    assertThat(status.getProof().processes()).hasSize(1);
    await().atMost(LONG).until(() -> operations().isEmpty());
    assertThat(operator.counted("stasis_cold_starts")).isZero();
  }

  @Test
  void theTargetPassesPodSecurityRestricted() {
    namespace =
        Objects.requireNonNull(cluster)
            .namespace(Map.of("pod-security.kubernetes.io/enforce", "restricted"));
    agent.ends(first, Examples::proven);
    checkpoint();
    restore(spec -> {});

    until(it -> phase(it) == RestorePhase.SUCCEEDED);
  }

  @Test
  void aCheckpointThatComesLaterIsWaitedFor() {
    agent.ends(first, Examples::proven);
    restore(spec -> {});
    GpuRestore waiting = until(it -> "WaitingForCheckpoint".equals(it.getStatus().getReason()));
    assertThat(waiting.getStatus().getMessage())
        .isEqualTo("GpuCheckpoint train: expected one in namespace " + namespace + ", got none");

    checkpoint();
    until(it -> phase(it) == RestorePhase.SUCCEEDED);
  }

  @Test
  void aQuotaRefusesInItsOwnWordsAndNothingIsMade() {
    client
        .resource(
            new ResourceQuotaBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("none")
                .endMetadata()
                .withNewSpec()
                .addToHard("pods", new Quantity("0"))
                .endSpec()
                .build())
        .create();
    agent.ends(first, Examples::proven);
    checkpoint();
    restore(spec -> {});

    // Before its controller has seen the quota, the API server refuses since its use is unknown.
    GpuRestore refused =
        until(
            it ->
                "RefusedByCluster".equals(it.getStatus().getReason())
                    && it.getStatus().getMessage().contains("exceeded quota: none"));
    assertThat(phase(refused)).isEqualTo(RestorePhase.PENDING);
    client.resourceQuotas().inNamespace(namespace).withName("none").delete();
    until(it -> phase(it) == RestorePhase.SUCCEEDED);
  }

  @Test
  void aMisfitIsRemovedAndTriedOnAnotherNode() {
    agent.ends(first, FakeAgent.fails(Outcome.REFUSED, "Incompatible"));
    checkpoint();
    restore(spec -> {});
    until(it -> it.getStatus().getExcludedNodes() != null);
    GpuRestore waiting = until(it -> "NoNodeFits".equals(it.getStatus().getReason()));
    assertThat(waiting.getStatus().getExcludedNodes().get(0).faults().get(0).message())
        .isEqualTo("gpu.model: expected NVIDIA H200, got NVIDIA H100");

    agent.ends(second, Examples::proven);
    node(second);
    GpuRestore done = until(it -> phase(it) == RestorePhase.SUCCEEDED);
    assertThat(done.getStatus().getPod().node()).isEqualTo(second);
    assertThat(done.getStatus().getAttempts()).isEqualTo(2);
  }

  @Test
  void aFailedRestoreLeavesNoTargetAndReportsTheCause() {
    agent.ends(first, FakeAgent.fails(Outcome.UNDONE, "CriuFailed"));
    checkpoint();
    restore(spec -> {});

    GpuRestore failed = until(it -> phase(it) == RestorePhase.FAILED);
    assertThat(condition(failed, "Failed").status()).isEqualTo(ConditionValue.TRUE);
    assertThat(condition(failed, "Succeeded").reason()).isEqualTo("RestoreFailed");
    assertThat(targets()).isEmpty();
    await().atMost(LONG).until(() -> operations().isEmpty());
  }

  @Test
  void aColdStartIsAllowedAndSaidAndCountedApart() {
    agent.ends(first, FakeAgent.fails(Outcome.UNDONE, "CriuFailed"));
    checkpoint();
    restore(it -> it.getSpec().setColdStartPolicy(ColdStartPolicy.COLD_START));

    GpuRestore cold = until(it -> phase(it) == RestorePhase.COLD_STARTED);
    assertThat(condition(cold, "Succeeded").reason()).isEqualTo("ColdStarted");
    assertThat(condition(cold, "ColdStarted").status()).isEqualTo(ConditionValue.TRUE);
    Pod pod = client.pods().inNamespace(namespace).withName(cold.getStatus().getPod().name()).get();
    assertThat(pod.getSpec().getReadinessGates()).isEmpty();
    assertThat(pod.getSpec().getContainers().get(0).getCommand())
        .containsExactly("python3", "train.py");
    await().atMost(LONG).until(() -> operator.counted("stasis_cold_starts") == 1);
    await().atMost(LONG).until(() -> operator.counted("stasis_operations") == 1);
  }

  @Test
  void cancelledAtWorkItLeavesNothingBehind() {
    checkpoint();
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.RESTORING);

    cancel();
    GpuRestore cancelled = until(it -> phase(it) == RestorePhase.CANCELLED);
    assertThat(cancelled.getStatus().getReason()).isEqualTo("Cancelled");
    assertThat(targets()).isEmpty();
  }

  @Test
  void aNodeThatIsGoneWithItsAgentIsNotWaitedFor() {
    checkpoint();
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.RESTORING);
    agent.close();
    client.resources(GpuNode.class).withName(first).delete();
    client
        .pods()
        .inNamespace(namespace)
        .withName(target().getMetadata().getName())
        .withGracePeriod(0)
        .delete();

    GpuRestore waiting = until(it -> "NoNodeFits".equals(it.getStatus().getReason()));
    assertThat(phase(waiting)).isEqualTo(RestorePhase.PENDING);
    assertThat(targets()).isEmpty();
  }

  @Test
  void deletedAtWorkItIsRolledBackAndDeletedAfterwardsThePodStays() {
    checkpoint();
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.RESTORING);
    client.resources(GpuRestore.class).inNamespace(namespace).withName("back").delete();
    await().atMost(LONG).until(() -> restores().isEmpty());
    assertThat(targets()).isEmpty();
    assertThat(operations()).isEmpty();

    agent.ends(first, Examples::proven);
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.SUCCEEDED);
    client.resources(GpuRestore.class).inNamespace(namespace).withName("back").delete();
    await().atMost(LONG).until(() -> restores().isEmpty());
    assertThat(targets()).hasSize(1);
  }
}
