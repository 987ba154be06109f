package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.operator.testing.ClaimedGpus;
import dev.stasis.operator.testing.ClaimedGpus.Allocated;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A pod whose GPU comes from a ResourceClaim: the cluster's own controllers create the claim, and
 * its own scheduler allocates the device.
 */
@SuppressWarnings("NullAway") // what is not there fails the test
class ClaimedGpuApiServerTest extends OnApiServer {

  private static final String MODEL = "H200";

  private ClaimedGpus gpus;

  /** Its labels match, but its device is of another model than the claims request. */
  private String third;

  @Override
  void node(String name, int count) {
    if (gpus == null) {
      gpus = new ClaimedGpus(client, namespace);
    }
    super.node(name, 0);
    gpus.publish(name, name.equals(third) ? "A100" : MODEL);
  }

  @Override
  Pod trainer() {
    third = RealCluster.name("gpu-3", namespace);
    node(third, 0);
    gpus.template("one-gpu", MODEL);
    return claiming("trainer");
  }

  private Pod claiming(String name) {
    return new PodBuilder(super.trainer())
        .editMetadata()
        .withName(name)
        .endMetadata()
        .editSpec()
        .addNewResourceClaim()
        .withName("gpu")
        .withResourceClaimTemplateName("one-gpu")
        .endResourceClaim()
        .editFirstContainer()
        .editResources()
        .removeFromLimits("nvidia.com/gpu")
        .addNewClaim()
        .withName("gpu")
        .endClaim()
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  @AfterEach
  void forget() {
    client.resources(GpuNode.class).withName(third).delete();
    client.resources(GpuRestore.class).inNamespace(namespace).delete();
    client.resources(GpuCheckpoint.class).inNamespace(namespace).delete();
    gpus.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = MigrationStrategy.class,
      names = {"LIVE", "RECREATE"})
  void theTargetGetsAClaimOfItsOwnWhereTheSchedulerFindsADevice(MigrationStrategy strategy) {
    if (strategy == MigrationStrategy.RECREATE) {
      share();
    }
    Allocated before = onlyClaim();
    assertThat(before.node()).isEqualTo(pod("trainer").getSpec().getNodeName());
    migrate("move", it -> it.getSpec().setStrategy(strategy));

    GpuMigration done = until("move", it -> isFinal(it));
    assertThat(phase(done)).as(done.getStatus().getMessage()).isEqualTo(MigrationPhase.SUCCEEDED);
    String target = done.getStatus().getTarget().name();
    assertThat(pod(target).getSpec().getNodeName())
        .isEqualTo(done.getStatus().getTarget().node())
        .isEqualTo(before.node().equals(first) ? second : first);
    // The claim of the source is deleted with it.
    await().atMost(LONG).until(() -> gpus.allocated().size() == 1);
    assertThat(onlyClaim().claim()).isNotEqualTo(before.claim());
    assertThat(onlyClaim().pod()).isEqualTo(target);
    assertThat(onlyClaim().node()).isEqualTo(done.getStatus().getTarget().node());
    assertThat(agents.running).containsExactly(target);
    assertThat(agents.doubled).isFalse();
  }

  @Test
  void aMigrationWithoutAFreeDeviceReportsTheSchedulersReasonAndTheSourceKeepsRunning() {
    client.resource(claiming("neighbor")).create();
    await().atMost(LONG).until(() -> gpus.allocated().size() == 2);
    migrate("move", it -> {});

    GpuMigration waiting =
        until("move", it -> String.valueOf(it.getStatus().getMessage()).contains("claims"));
    assertThat(phase(waiting)).isEqualTo(MigrationPhase.TARGET_STARTING);
    assertThat(waiting.getStatus().getMessage()).contains("cannot allocate all claims");
    cancel("move");
    until("move", it -> isFinal(it));
    assertThat(agents.running).containsExactly("trainer");
    await().atMost(LONG).until(() -> pods().size() == 2);
    assertThat(gpus.allocated())
        .extracting(Allocated::pod)
        .containsExactlyInAnyOrder("trainer", "neighbor");
  }

  private Allocated onlyClaim() {
    List<Allocated> all = gpus.allocated();
    assertThat(all).hasSize(1);
    return all.get(0);
  }

  private void share() {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(shared);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/shared")));
    client.resource(store).create();
  }
}
