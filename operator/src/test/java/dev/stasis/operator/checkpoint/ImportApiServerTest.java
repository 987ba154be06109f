package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationType;
import io.fabric8.kubernetes.api.model.Event;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An import on a real API server, beside a pod that has the name of the one in the artifact. */
@OnTestCluster(definitions = true)
class ImportApiServerTest {

  /** A turn takes milliseconds; a machine that is busy with a whole build takes its time. */
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
    cluster.startOperator();
  }

  @AfterEach
  void tidy() {
    if (cluster != null) {
      agent.close();
      cluster.close();
    }
  }

  @Test
  void anImportIsReadyAndItsArtifactGoesWithItAndThePodIsNotTouched() {
    cluster.checkpoint("one", this::imports);
    GpuCheckpointStatus ready = until("one", CheckpointPhase.READY);

    assertThat(Objects.requireNonNull(ready.getPhases()))
        .extracting(PhaseTime::phase)
        .containsExactly(CheckpointPhase.PENDING, CheckpointPhase.IMPORTING, CheckpointPhase.READY);
    assertThat(Objects.requireNonNull(ready.getArtifact()).getUid()).isEqualTo("uid-0");
    assertThat(ready.getPodTemplate()).containsKey("metadata");
    assertThat(ready.getArgv()).containsExactly("python", "train.py");
    assertThat(cluster.client.v1().events().inNamespace(cluster.namespace).list().getItems())
        .extracting((Event event) -> event.getInvolvedObject().getKind())
        .doesNotContain("Pod");

    cluster.checkpoint("two", this::imports);
    assertThat(until("two", CheckpointPhase.FAILED).getReason()).isEqualTo("AlreadyImported");

    agent.until(AgentStandIn.Limit.UNCLAIMED);
    cluster.client.resource(Objects.requireNonNull(cluster.get("one"))).delete();
    await().atMost(PATIENCE).until(() -> deletion().isPresent());
    assertThat(deletion().orElseThrow())
        .isEqualTo(
            new ArtifactReference(
                cluster.store, from().location(), cluster.namespace, "uid-0", "a".repeat(64)));
    agent.until(AgentStandIn.Limit.DONE);
    await().atMost(PATIENCE).until(() -> cluster.get("one") == null);
  }

  @Test
  void anOperatorRestartLeadsToTheSameEnd() {
    agent.until(AgentStandIn.Limit.UNCLAIMED);
    cluster.checkpoint("one", this::imports);
    await().atMost(PATIENCE).until(() -> !agent.seen.isEmpty());
    cluster.stopOperator();
    agent.until(AgentStandIn.Limit.DONE);
    cluster.startOperator();

    until("one", CheckpointPhase.READY);
    assertThat(agent.seen).hasSize(1);
  }

  private void imports(GpuCheckpointSpec spec) {
    spec.setPodRef(null);
    spec.setImportFrom(from());
  }

  private ImportSource from() {
    return new ImportSource("trainer", cluster.namespace + "/old-uid-0", cluster.node, null);
  }

  private Optional<ArtifactReference> deletion() {
    return cluster
        .client
        .resources(GpuNodeOperation.class)
        .inNamespace(cluster.system)
        .list()
        .getItems()
        .stream()
        .filter(it -> it.getSpec().getType() == OperationType.DELETE_ARTIFACT)
        .findFirst()
        .map(it -> it.getSpec().getArtifact());
  }

  private GpuCheckpointStatus until(String name, CheckpointPhase phase) {
    await()
        .atMost(PATIENCE)
        .until(() -> status(name), status -> status != null && status.getPhase() == phase);
    return Objects.requireNonNull(status(name));
  }

  private @Nullable GpuCheckpointStatus status(String name) {
    GpuCheckpoint found = cluster.get(name);
    return found == null ? null : found.getStatus();
  }
}
