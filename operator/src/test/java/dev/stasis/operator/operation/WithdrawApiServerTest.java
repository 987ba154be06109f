package dev.stasis.operator.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.testing.RealCluster;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The agent claims an operation between the operator's read and its write. */
@OnTestCluster(definitions = true)
class WithdrawApiServerTest {

  @SuppressWarnings("NullAway.Init") // made before each test
  private RealCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Informers informers;

  @SuppressWarnings("NullAway.Init") // made before each test
  private Operations operations;

  @BeforeEach
  void begin() {
    cluster = RealCluster.fromEnvironment();
    informers = new Informers(cluster.client(), cluster.config());
    operations = OperationParts.operations(cluster.client(), informers, cluster.config());
  }

  @AfterEach
  void end() {
    informers.stop();
    cluster.close();
  }

  @Test
  void anOperationThatAnAgentClaimsMeanwhileIsNotWithdrawn() {
    GpuNodeOperation read = create();
    claim(read);

    assertThat(operations.withdraw(read)).isFalse();

    GpuNodeOperation kept = cluster.client().resource(read).get();
    assertThat(kept).isNotNull();
    assertThat(kept.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(kept.getMetadata().getFinalizers()).isNotEmpty();
    operations.abandon(kept);
  }

  @Test
  void anUnclaimedOperationIsWithdrawn() {
    GpuNodeOperation read = create();

    assertThat(operations.withdraw(read)).isTrue();

    assertThat(cluster.client().resource(read).get()).isNull();
  }

  private GpuNodeOperation create() {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(OperationType.DELETE_ARTIFACT);
    spec.setNodeName(cluster.config().namespace());
    String uid = UUID.randomUUID().toString();
    spec.setArtifact(new ArtifactReference("local", "ml/train-1", "ml", uid, null));
    GpuNodeOperation draft =
        operations.draft(new ObjectReference("GpuCheckpoint", "ml", "train-1", uid), 1, spec);
    return cluster.client().resource(draft).create();
  }

  private void claim(GpuNodeOperation read) {
    GpuNodeOperation claimed = cluster.client().resource(read).get();
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setClaimedBy(
        new Claim("agent", "boot-1", Clock.systemUTC().instant().truncatedTo(ChronoUnit.SECONDS)));
    status.setPhase(OperationPhase.CLAIMED);
    claimed.setStatus(status);
    cluster.client().resource(claimed).updateStatus();
  }
}
