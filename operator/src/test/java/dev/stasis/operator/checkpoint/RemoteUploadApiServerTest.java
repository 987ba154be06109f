package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.StoreDurability;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Uploads and verifications on a real API server: schemas, finalizers, restarts. */
@OnTestCluster(definitions = true)
class RemoteUploadApiServerTest {

  private static final Duration PATIENCE = Duration.ofSeconds(120);

  @SuppressWarnings("NullAway.Init") // before each test
  private SingleNodeCluster cluster;

  @SuppressWarnings("NullAway.Init") // before each test
  private AgentStandIn agent;

  @BeforeEach
  void furnish() {
    cluster = SingleNodeCluster.create();
    cluster.pod("trainer");
    agent = new AgentStandIn(cluster);
    agent.uploadsTo(StoreDurability.REMOTE);
    cluster.startOperator();
  }

  @AfterEach
  void tidy() {
    if (cluster != null) {
      agent.close();
      cluster.close();
    }
  }

  private GpuCheckpointStatus status() {
    GpuCheckpoint found = cluster.get("one");
    return found == null || found.getStatus() == null
        ? new GpuCheckpointStatus()
        : found.getStatus();
  }

  private String condition(String type) {
    return Objects.requireNonNullElse(status().getConditions(), List.<Condition>of()).stream()
        .filter(condition -> condition.type().equals(type))
        .map(condition -> condition.status() + "/" + condition.reason())
        .findFirst()
        .orElse("none");
  }

  private boolean podIsThere() {
    var pod = cluster.client.pods().inNamespace(cluster.namespace).withName("trainer").get();
    return pod != null && pod.getMetadata().getDeletionTimestamp() == null;
  }

  private void untilCondition(String type, String wanted) {
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(condition(type)).isEqualTo(wanted));
  }

  @Test
  void anEvictedPodStaysUntilItsArtifactIsStoredEvenIfTheOperatorRestarts() {
    agent.storeIsAway("store bucket: connection refused; retried");
    cluster.checkpoint("one", spec -> spec.setAfterCheckpoint(AfterCheckpoint.EVICT));
    untilCondition("Stored", "False/UploadFailed");
    assertThat(condition("StoredLocally")).isEqualTo("True/ArtifactVerified");
    cluster.stopOperator();
    cluster.startOperator();
    untilCondition("Ready", "False/Uploading");
    assertThat(podIsThere()).isTrue();

    agent.storeIsAway(null);

    await().atMost(PATIENCE).until(() -> !podIsThere());
    await().atMost(PATIENCE).until(() -> status().getPhase() == CheckpointPhase.READY);
    ArtifactStatus artifact = Objects.requireNonNull(status().getArtifact());
    assertThat(artifact.getNode()).isNull();
    assertThat(artifact.getDurability()).isEqualTo(StoreDurability.REMOTE);
    assertThat(artifact.getNewBytes()).isPositive().isLessThan(artifact.getStoredBytes());
    assertThat(condition("Stored")).isEqualTo("True/Uploaded");
    assertThat(agent.seen).filteredOn(name -> name.contains("upload")).hasSize(1);
  }

  @Test
  void aDeletionDuringTheUploadEndsItAndLeavesNothing() {
    agent.storeIsAway("store bucket: connection refused; retried");
    cluster.checkpoint("one", spec -> {});
    await().atMost(PATIENCE).until(() -> status().getPhase() == CheckpointPhase.READY);
    untilCondition("Stored", "False/UploadFailed");

    cluster.client.resource(Objects.requireNonNull(cluster.get("one"))).delete();

    await().atMost(PATIENCE).until(() -> cluster.get("one") == null);
    assertThat(agent.seen).anyMatch(name -> name.contains("deleteartifact"));
  }

  @Test
  void aVerificationThatIsAskedForReportsDamageAndItsRepair() {
    agent.findsDamage(true);
    cluster.checkpoint("one", spec -> {});
    untilCondition("Stored", "True/Uploaded");
    verify(0);

    untilCondition("Restorable", "False/ArtifactDamaged");
    Instant first = Objects.requireNonNull(status().getLastVerified());
    assertThat(condition("Ready")).isEqualTo("True/ArtifactVerified");

    agent.findsDamage(false);
    verify(2);
    untilCondition("Restorable", "True/NodesFit");
    assertThat(status().getLastVerified()).isAfter(first);
  }

  /** As kubectl stasis store verify does; times have whole seconds. */
  private void verify(int later) {
    String time = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(later).toString();
    cluster
        .client
        .resources(GpuCheckpoint.class)
        .inNamespace(cluster.namespace)
        .withName("one")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"options\":{\"verifyAfter\":\"%s\"}}}".formatted(time));
  }
}
