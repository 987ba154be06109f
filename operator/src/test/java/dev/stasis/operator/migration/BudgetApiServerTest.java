package dev.stasis.operator.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.SharedPath;
import dev.stasis.api.v1beta1.store.StoreLocation;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A PodDisruptionBudget that forbids the eviction of the source. */
@SuppressWarnings("NullAway") // what is not there fails the test
class BudgetApiServerTest extends OnApiServer {

  /** A budget that was created with the migration has settled by then. */
  private static final Duration SETTLED = Duration.ofSeconds(31);

  @ParameterizedTest
  @EnumSource(names = "UNRECOGNIZED", mode = EnumSource.Mode.EXCLUDE)
  void aBudgetThatForbidsTheEvictionRefusesTheMigrationBeforeAnythingIsMade(
      MigrationStrategy order) {
    share();
    budget(1);
    migrate(
        "move",
        it -> {
          it.getSpec().setStrategy(order);
          it.getSpec().setStorageRef(NameReference.ofNullable(shared));
        });
    GpuMigration waiting =
        until("move", it -> "EvictionRefused".equals(condition(it, "Succeeded").reason()));
    assertThat(phase(waiting)).isIn(MigrationPhase.PENDING, MigrationPhase.FAILED);
    later(SETTLED);

    GpuMigration refused = until("move", OnApiServer::isFinal);
    assertThat(phase(refused)).isEqualTo(MigrationPhase.FAILED);
    assertThat(condition(refused, "Failed").reason()).isEqualTo("EvictionRefused");
    assertThat(refused.getStatus().getMessage()).contains("eviction of pod trainer");
    assertThat(pods()).containsExactly("trainer");
    assertThat(agents.running).containsExactly("trainer");
    assertThat(client.resources(GpuCheckpoint.class).inNamespace(namespace).list().getItems())
        .isEmpty();
    assertThat(operations()).noneMatch(Kinds::freezes);
    assertThat(evictions()).as("dry runs").hasSizeLessThanOrEqualTo(4);
  }

  @Test
  void aBudgetThatComesAfterTheDecisionIsAskedSeldomAndThenTheFrozenCopyIsDeletedAllTheSame() {
    agents.stop(OperationType.RESTORE);
    migrate("move", it -> {});
    until("move", it -> phase(it) == MigrationPhase.RESTORING);
    budget(5);
    agents.goOn(OperationType.RESTORE);

    GpuMigration decided =
        until("move", it -> "EvictionRefused".equals(condition(it, "Succeeded").reason()));
    assertThat(decided.getStatus().getCommitment().decision()).isEqualTo(Decision.SWITCH_OVER);
    assertThat(pod("trainer").getMetadata().getDeletionTimestamp()).isNull();
    later(SETTLED);

    until("move", it -> phase(it) == MigrationPhase.SUCCEEDED);
    assertThat(pods()).hasSize(1).doesNotContain("trainer");
    // Two dry runs before the freeze, the first eviction, and at most four more in 30 s.
    assertThat(evictions()).hasSizeBetween(3, 7);
    await()
        .atMost(LONG)
        .until(
            () ->
                client.v1().events().inNamespace(namespace).list().getItems().stream()
                    .anyMatch(
                        event ->
                            "EvictionRefused".equals(event.getReason())
                                && event.getMessage().contains("deleting pod trainer anyway")));
  }

  private List<String> evictions() {
    return operator.requests().of("POST /api/v1/namespaces/" + namespace + "/pods/trainer/evict");
  }

  private void share() {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName(shared);
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new SharedPath("/mnt/shared")));
    client.resource(store).create();
  }

  private void budget(int healthy) {
    client
        .resource(
            new PodDisruptionBudgetBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("all")
                .endMetadata()
                .withNewSpec()
                .withMinAvailable(new IntOrString(healthy))
                .withNewSelector()
                .addToMatchLabels("app", "train")
                .endSelector()
                .endSpec()
                .build())
        .create();
  }
}
