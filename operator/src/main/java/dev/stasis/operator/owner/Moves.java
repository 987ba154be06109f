package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.cluster.Pages;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.pod.Owners;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;

/** Reads the moves of controllers' pods from the API server itself. */
@Singleton
public class Moves {

  private final KubernetesClient client;
  private final Pages pages;
  private final String system;

  Moves(KubernetesClient client, StasisConfig config) {
    this.client = client;
    this.pages = new Pages(client);
    this.system = config.namespace();
  }

  /**
   * Refuses a pod in place of one that has moved, because its controller is about to adopt the
   * target.
   */
  public Optional<Verdict> refusal(Pod made, String namespace) {
    Optional<OwnerReference> owner = Owners.of(made).filter(Owners::canAdopt);
    if (owner.isEmpty()) {
      return Optional.empty();
    }
    return pages.list(GpuMigration.class, namespace, it -> !Move.isOver(it)).stream()
        .filter(
            migration ->
                Move.open(migration, operations(migration), client.getKubernetesSerialization())
                    .filter(it -> it.getUid().equals(owner.get().getUid()))
                    .isPresent())
        .findFirst()
        .map(
            migration ->
                new Verdict.NotNow(
                    ("GpuMigration %s has migrated a pod of %s %s: no replacement is created"
                            + " until it has finished")
                        .formatted(
                            migration.getMetadata().getName(),
                            owner.get().getKind(),
                            owner.get().getName())));
  }

  private List<GpuNodeOperation> operations(GpuMigration migration) {
    return client
        .resources(GpuNodeOperation.class)
        .inNamespace(system)
        .withLabel(Api.OPERATION_UID_LABEL, migration.getMetadata().getUid())
        .list()
        .getItems();
  }
}
