package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.testing.FakeAgent;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.ReplicaSet;
import io.fabric8.kubernetes.api.model.apps.ReplicaSetBuilder;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@SuppressWarnings("NullAway") // what is not there fails the test
class TargetOnApiServerTest extends OnApiServer {

  @Test
  void aTakenNameIsRefusedAndTheOldNameIsNotNeeded() {
    client.resource(Examples.pod(namespace, "trainer")).create();
    checkpoint();
    restore(it -> it.getSpec().setTarget(new Target(null, null, "trainer", null)));
    GpuRestore refused = until(it -> phase(it) == RestorePhase.FAILED);
    assertThat(refused.getStatus().getReason()).isEqualTo("TargetTaken");
    client.resource(refused).delete();
    await().atMost(LONG).until(() -> restores().isEmpty());

    restore(spec -> {});
    GpuRestore starting = until(it -> it.getStatus().getPod() != null);
    assertThat(starting.getStatus().getPod().name()).matches("trainer-[a-z0-9]{5}");
  }

  @Test
  void aPodWhoseControllerLivesIsNotMadeTwice() {
    ReplicaSet owner =
        client
            .resource(
                new ReplicaSetBuilder()
                    .withNewMetadata()
                    .withNamespace(namespace)
                    .withName("train")
                    .endMetadata()
                    .withNewSpec()
                    .withReplicas(0)
                    .withNewSelector()
                    .addToMatchLabels("app", "train")
                    .endSelector()
                    .withNewTemplate()
                    .withNewMetadata()
                    .addToLabels("app", "train")
                    .endMetadata()
                    .withSpec(Examples.pod(namespace, "x").getSpec())
                    .endTemplate()
                    .endSpec()
                    .build())
            .create();
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    Pod owned = Examples.pod(namespace, "trainer");
    owned
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion("apps/v1")
                    .withKind("ReplicaSet")
                    .withName("train")
                    .withUid(owner.getMetadata().getUid())
                    .withController(true)
                    .build()));
    checkpoint.getStatus().setPodTemplate(Examples.template(owned));
    checkpoint(checkpoint);
    restore(spec -> {});

    GpuRestore waiting = until(it -> "OwnerLives".equals(it.getStatus().getReason()));
    assertThat(waiting.getStatus().getMessage())
        .endsWith(
            "got ReplicaSet train, which is scaled to 0: scale it up, or delete it to restore the"
                + " workload as a bare pod");
    agent.ends(first, Examples::proven);
    client.resource(owner).delete();
    until(it -> phase(it) == RestorePhase.SUCCEEDED);
  }

  @Test
  void aRestoredContainerThatIsStartedAgainIsToldAndCounted() {
    agent.ends(first, Examples::proven);
    checkpoint();
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.SUCCEEDED);

    kubelet.restart(target(), 137, 1);
    until(it -> Integer.valueOf(1).equals(it.getStatus().getRestarts()));
    // The operator counts and reports when its own watch shows the change.
    await().atMost(LONG).until(() -> operator.counted("stasis_cold_starts") == 1);
    await()
        .atMost(LONG)
        .untilAsserted(
            () ->
                assertThat(
                        client.v1().events().inNamespace(namespace).list().getItems().stream()
                            .filter(event -> "ColdStarted".equals(event.getReason()))
                            .map(event -> event.getInvolvedObject().getKind()))
                    .containsExactlyInAnyOrder("GpuRestore", "Pod"));
  }

  @Test
  void aHolderThatIsStartedAgainBeforeTheProofIsAFailure() {
    checkpoint();
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.RESTORING);

    kubelet.restart(target(), 78, 1);
    agent.ends(first, FakeAgent.fails(Outcome.UNDONE, "WorkloadGone"));
    until(it -> phase(it) == RestorePhase.FAILED);
    assertThat(targets()).isEmpty();
  }

  @Test
  void memoryForTheDeviceMemoryIsThereUntilTheProofAndThenGivenBack() {
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    Objects.requireNonNull(checkpoint.getStatus().getArtifact()).setGpuBytes(6L << 30);
    checkpoint(checkpoint);
    restore(spec -> {});
    until(it -> phase(it) == RestorePhase.RESTORING);
    assertThat(memory(target())).isEqualTo(new Quantity("10Gi"));

    agent.ends(first, Examples::proven);
    GpuRestore done =
        until(
            it ->
                phase(it) == RestorePhase.SUCCEEDED
                    && condition(it, "RoomReturned").status() == ConditionValue.TRUE);
    assertThat(done.getStatus().getReason()).isEqualTo("Proven");
    assertThat(memory(target())).isEqualTo(new Quantity("4Gi"));
  }

  @ParameterizedTest
  @EnumSource(
      value = RestorePhase.class,
      names = {"PENDING", "STARTING", "RESTORING"})
  void anOperatorRestartLeadsToTheSameEnd(RestorePhase at) {
    if (at == RestorePhase.STARTING) {
      kubelet.stick(first);
    }
    if (at != RestorePhase.PENDING) {
      checkpoint();
    }
    restore(spec -> {});
    until(it -> phase(it) == at);
    operator.close();
    if (at == RestorePhase.PENDING) {
      checkpoint();
    }
    agent.ends(first, Examples::proven);
    startOperator();
    if (at == RestorePhase.STARTING) {
      kubelet.unstick(first);
    }

    GpuRestore done = until(it -> phase(it) == RestorePhase.SUCCEEDED);
    assertThat(done.getStatus().getAttempts()).isEqualTo(1);
    assertThat(targets()).hasSize(1);
  }
}
