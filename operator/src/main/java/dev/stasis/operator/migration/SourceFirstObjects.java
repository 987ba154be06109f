package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointOptions;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.cluster.StaleWrites;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The GpuCheckpoint and the GpuRestores of a migration with strategy Recreate. They have its uid as
 * a label and in their names, so they are created only once. They are not owned by it, so that
 * deleting the migration deletes no workload.
 */
@Singleton
class SourceFirstObjects {

  /** Maximum length of the migration's name, so that uid and number fit into 63 characters. */
  private static final int HEAD = 45;

  private static final int OF_UID = 8;

  private final KubernetesClient client;
  private final Cluster cluster;

  SourceFirstObjects(KubernetesClient client, Cluster cluster) {
    this.client = client;
    this.cluster = cluster;
  }

  /** Observes the objects of one migration. */
  SourceFirstState observe(GpuMigration migration) {
    Optional<GpuCheckpoint> checkpoint = checkpoint(migration);
    return new SourceFirstState(
        checkpoint,
        restore(migration),
        checkpoint.flatMap(this::frozen),
        cluster.isNamespaceDeleted(migration.getMetadata().getNamespace()));
  }

  private Optional<Instant> frozen(GpuCheckpoint checkpoint) {
    return cluster.operations(checkpoint.getMetadata().getUid()).stream()
        .map(OperationView::of)
        .filter(it -> it.type() == OperationType.CHECKPOINT)
        .map(it -> it.status().getFrozenTime())
        .filter(Objects::nonNull)
        .findFirst();
  }

  /** Returns the name of the GpuCheckpoint. */
  static String name(GpuMigration migration) {
    String name = migration.getMetadata().getName();
    String uid = migration.getMetadata().getUid();
    String head = name.substring(0, Math.min(name.length(), HEAD)).replaceAll("[^a-z0-9]+$", "");
    return head + "-" + uid.substring(0, Math.min(uid.length(), OF_UID));
  }

  /** Returns the name of the GpuRestore with that number. */
  static String name(GpuMigration migration, int number) {
    return name(migration) + "-" + number;
  }

  /** Returns the number in the name of a GpuRestore; 0 for none. */
  static int number(@Nullable String restore) {
    return restore == null ? 0 : Integer.parseInt(restore.substring(restore.lastIndexOf('-') + 1));
  }

  /** Objects that a watch has not shown yet, or shows as gone, are read from the API server. */
  Optional<GpuCheckpoint> checkpoint(GpuMigration migration) {
    return seen(migration)
        .or(() -> asked(migration, GpuCheckpoint.class, migration.getStatus().getCheckpoint()));
  }

  /** The same without a request, for an object that may be gone. */
  Optional<GpuCheckpoint> seen(GpuMigration migration) {
    String name = migration.getStatus().getCheckpoint();
    return name == null
        ? Optional.empty()
        : cluster
            .checkpoint(migration.getMetadata().getNamespace(), name)
            .filter(it -> isOf(migration, it));
  }

  /** The current GpuRestore. */
  Optional<GpuRestore> restore(GpuMigration migration) {
    String name = migration.getStatus().getRestore();
    return cluster.restoresFor(migration.getMetadata().getUid()).stream()
        .filter(it -> it.getMetadata().getName().equals(name))
        .findFirst()
        .or(() -> asked(migration, GpuRestore.class, name));
  }

  /**
   * Creates the GpuCheckpoint.
   *
   * @return why the API server has refused it; empty if it exists
   */
  Optional<String> save(MigrationContext view, Check.Admitted source) {
    GpuMigrationSpec wish = view.migration().getSpec();
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    ObjectMeta pod = source.pod().getMetadata();
    spec.setPodRef(new PodReference(pod.getName(), pod.getUid()));
    CheckpointOptions options = spec.getOptions();
    options.copy(wish.getOptions());
    options.setContainerName(source.container());
    spec.setAfterCheckpoint(AfterCheckpoint.EVICT);
    spec.setStorageRef(NameReference.of(source.store().getMetadata().getName()));
    options.limit(view.left().duration());
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(meta(view.migration(), name(view.migration())).build());
    checkpoint.setSpec(spec);
    return create(view.migration(), checkpoint);
  }

  /**
   * Creates a GpuRestore: the first one on the requested node and never on the source's; the second
   * on any node, preferably not where the first has failed.
   *
   * @return why the API server has refused it; empty if it exists
   */
  Optional<String> bringBack(GpuMigration migration, GpuCheckpoint from, int number) {
    Target wish = Objects.requireNonNullElse(migration.getSpec().getTarget(), Target.ANYWHERE);
    boolean first = number == 1;
    GpuMigrationStatus status = migration.getStatus();
    GpuRestoreSpec spec = new GpuRestoreSpec();
    spec.setCheckpointRef(NameReference.of(from.getMetadata().getName()));
    spec.setTarget(
        new Target(
            first ? wish.nodeName() : null,
            first ? wish.nodeSelector() : null,
            first ? with(wish.excluded(), status.getSource()) : wish.excludeNodes(),
            first ? wish.avoidNodes() : with(wish.avoided(), status.getTarget()),
            Objects.requireNonNullElse(wish.podName(), migration.getSpec().podName()),
            wish.labels()));
    spec.getOptions().setDeadline(migration.getSpec().getOptions().getDeadline());
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(meta(migration, name(migration, number)).build());
    restore.setSpec(spec);
    return create(migration, restore);
  }

  private static List<String> with(List<String> nodes, @Nullable ObservedPod pod) {
    return pod == null || pod.node() == null
        ? nodes
        : Stream.concat(nodes.stream(), Stream.of(pod.node())).distinct().toList();
  }

  /** Cancels it; has no effect if it is gone. */
  void cancel(HasMetadata object) {
    ObjectMeta meta = object.getMetadata();
    // The API server refuses the uid of a former object.
    Map<String, Object> patch =
        Map.of("metadata", Map.of("uid", meta.getUid()), "spec", Api.CANCEL);
    StaleWrites.ignore(
        () ->
            client
                .resource(object)
                .patch(
                    PatchContext.of(PatchType.JSON_MERGE),
                    client.getKubernetesSerialization().asJson(patch)));
  }

  /** Deletes the record; its finalizer determines what else is deleted and what is kept. */
  void forget(HasMetadata object) {
    if (object.getMetadata().getDeletionTimestamp() == null) {
      StaleWrites.ignore(() -> client.resource(object).delete());
    }
  }

  private Optional<String> create(GpuMigration migration, HasMetadata object) {
    try {
      client.resource(object).create();
      return Optional.empty();
    } catch (KubernetesClientException e) {
      if (RefusedCreates.isNameTaken(e)) {
        // The previous reconciliation has created it.
        return Optional.ofNullable(client.resource(object).get())
                .filter(found -> isOf(migration, found))
                .isPresent()
            ? Optional.empty()
            : Optional.of(
                "%s: expected an unused name, got %s of another owner"
                    .formatted(object.getKind(), object.getMetadata().getName()));
      }
      boolean refused = e.getCode() == HttpURLConnection.HTTP_FORBIDDEN || e.getCode() == 422;
      if (!refused) {
        throw e;
      }
      return Optional.of(Objects.requireNonNullElse(e.getMessage(), "refused"));
    }
  }

  private <T extends HasMetadata> Optional<T> asked(
      GpuMigration migration, Class<T> kind, @Nullable String name) {
    return name == null
        ? Optional.empty()
        : Optional.ofNullable(
                client
                    .resources(kind)
                    .inNamespace(migration.getMetadata().getNamespace())
                    .withName(name)
                    .get())
            .filter(it -> isOf(migration, it));
  }

  private static boolean isOf(GpuMigration migration, HasMetadata made) {
    return migration.getMetadata().getUid().equals(Marks.labels(made).get(Api.OPERATION_UID_LABEL));
  }

  private static ObjectMetaBuilder meta(GpuMigration migration, String name) {
    return new ObjectMetaBuilder()
        .withNamespace(migration.getMetadata().getNamespace())
        .withName(name)
        .addToLabels(Api.OPERATION_UID_LABEL, migration.getMetadata().getUid());
  }
}
