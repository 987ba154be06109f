package dev.stasis.operator.migration;

import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleSpec;
import dev.stasis.operator.restore.Examples;
import dev.stasis.operator.testing.RealCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.apps.ReplicaSetBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Objects that wait, each in a namespace of its own, so that requests are known by their path. */
@SuppressWarnings("NullAway") // what is not there fails the test
final class WaitingObjects {

  /** Name of each object that waits. */
  static final String NAME = "waiting";

  private static final Duration LONG = Duration.ofSeconds(120);

  private final RealCluster cluster;
  private final KubernetesClient client;
  private final Pod trainer;

  /** What waits in a namespace. */
  final Map<String, String> states = new LinkedHashMap<>();

  WaitingObjects(RealCluster cluster, Pod trainer) {
    this.cluster = cluster;
    this.client = cluster.client();
    this.trainer = trainer;
  }

  /** Returns a new namespace for an object that waits. */
  String namespace(String state) {
    String namespace = cluster.namespace(Map.of());
    states.put(namespace, state);
    return namespace;
  }

  /** Returns the namespace of what waits already. */
  String in(String state) {
    return states.entrySet().stream()
        .filter(it -> it.getValue().equals(state))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  /** A pod that runs on a node. */
  Pod pod(String namespace, String node) {
    return pod(namespace, node, it -> it);
  }

  Pod pod(String namespace, String node, java.util.function.UnaryOperator<PodBuilder> change) {
    PodBuilder pod =
        new PodBuilder(trainer)
            .editMetadata()
            .withNamespace(namespace)
            .endMetadata()
            .editSpec()
            .withNodeName(node)
            .endSpec();
    client.resource(change.apply(pod).build()).create();
    until(Pod.class, namespace, "trainer", found -> "Running".equals(found.getStatus().getPhase()));
    return client.pods().inNamespace(namespace).withName("trainer").get();
  }

  void checkpoint(String namespace, Consumer<GpuCheckpointSpec> change) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace(namespace);
    checkpoint.getMetadata().setName(NAME);
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of("trainer"));
    change.accept(checkpoint.getSpec());
    client.resource(checkpoint).create();
  }

  /** A checkpoint that is Ready, with its artifact on the disk of that node. */
  void saved(String namespace, String name, String node) {
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, name);
    checkpoint.getMetadata().setUid(null);
    checkpoint.getStatus().getArtifact().setNode(node);
    cluster.with(checkpoint);
  }

  void restore(String namespace, Map<String, String> nodes) {
    restore(namespace, "train", nodes);
  }

  void restore(String namespace, String of, Map<String, String> nodes) {
    GpuRestore restore = new GpuRestore();
    restore.getMetadata().setNamespace(namespace);
    restore.getMetadata().setName(NAME);
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(of));
    restore.getSpec().setTarget(new Target(null, nodes, null, null));
    client.resource(restore).create();
  }

  void migration(String namespace, Map<String, String> nodes, Consumer<GpuMigrationSpec> change) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setNamespace(namespace);
    migration.getMetadata().setName(NAME);
    migration.setSpec(new GpuMigrationSpec());
    migration.getSpec().setPodRef(PodReference.of("trainer"));
    migration.getSpec().setTarget(new Target(null, nodes, null, null));
    change.accept(migration.getSpec());
    client.resource(migration).create();
  }

  void schedule(String namespace, String app) {
    GpuCheckpointSchedule schedule = new GpuCheckpointSchedule();
    schedule.setMetadata(new ObjectMetaBuilder().withNamespace(namespace).withName(NAME).build());
    schedule.setSpec(new GpuCheckpointScheduleSpec());
    schedule.getSpec().setSchedule("0 0 1 1 *");
    schedule.getSpec().setSelector(new LabelSelectorBuilder().addToMatchLabels("app", app).build());
    client.resource(schedule).create();
  }

  void budget(String namespace) {
    client
        .resource(
            new PodDisruptionBudgetBuilder()
                .withMetadata(
                    new ObjectMetaBuilder().withNamespace(namespace).withName("all").build())
                .withNewSpec()
                .withMinAvailable(new IntOrString(5))
                .withNewSelector()
                .addToMatchLabels("app", "train")
                .endSelector()
                .endSpec()
                .build())
        .create();
  }

  void quota(String namespace, int pods) {
    client
        .resource(
            new ResourceQuotaBuilder()
                .withMetadata(
                    new ObjectMetaBuilder().withNamespace(namespace).withName("few").build())
                .withNewSpec()
                .addToHard("pods", new Quantity(String.valueOf(pods)))
                .endSpec()
                .build())
        .create();
  }

  /** A pod whose Job is there. */
  PodBuilder ofJob(String namespace, PodBuilder pod) {
    var job =
        client
            .resource(
                new JobBuilder()
                    .withMetadata(
                        new ObjectMetaBuilder().withNamespace(namespace).withName("job").build())
                    .withNewSpec()
                    // One for this pod, and one that finds no node.
                    .withParallelism(2)
                    .withNewTemplate()
                    .withSpec(
                        new PodBuilder(trainer)
                            .editSpec()
                            .withNodeSelector(Map.of("no", "where"))
                            .withRestartPolicy("Never")
                            .endSpec()
                            .build()
                            .getSpec())
                    .endTemplate()
                    .endSpec()
                    .build())
            .create();
    return pod.editMetadata()
        // Without it the Job releases the pod.
        .addToLabels("batch.kubernetes.io/controller-uid", job.getMetadata().getUid())
        .addToLabels("controller-uid", job.getMetadata().getUid())
        .addToOwnerReferences(
            new OwnerReferenceBuilder()
                .withApiVersion("batch/v1")
                .withKind("Job")
                .withName("job")
                .withUid(job.getMetadata().getUid())
                .withController(true)
                .build())
        .endMetadata();
  }

  /** A saved checkpoint of a pod whose ReplicaSet is there, scaled to zero. */
  void savedOfReplicaSet(String namespace) {
    var owner =
        client
            .resource(
                new ReplicaSetBuilder()
                    .withMetadata(
                        new ObjectMetaBuilder().withNamespace(namespace).withName("train").build())
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
    GpuCheckpoint checkpoint = Examples.checkpoint(namespace, "train");
    checkpoint.getMetadata().setUid(null);
    checkpoint.getStatus().setPodTemplate(Examples.template(owned));
    cluster.with(checkpoint);
  }

  <T extends HasMetadata> void until(
      Class<T> kind, String namespace, String name, Predicate<T> wanted) {
    await(states.get(namespace) + ": " + kind.getSimpleName() + " " + name)
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(NullPointerException.class)
        .until(
            () -> wanted.test(client.resources(kind).inNamespace(namespace).withName(name).get()));
  }

  void untilCheckpoint(String ns, @Nullable CheckpointPhase phase) {
    until(GpuCheckpoint.class, ns, NAME, it -> it.getStatus().getPhase() == phase);
  }

  void untilReason(String ns, String reason) {
    until(
        GpuCheckpoint.class,
        ns,
        NAME,
        it ->
            it.getStatus().getConditions().stream()
                .anyMatch(c -> c.type().equals("Ready") && c.reason().equals(reason)));
  }

  void untilRestore(String ns, RestorePhase phase) {
    until(GpuRestore.class, ns, NAME, it -> it.getStatus().getPhase() == phase);
  }

  void untilPods(String ns, int pods) {
    await()
        .atMost(LONG)
        .until(() -> client.pods().inNamespace(ns).list().getItems().size() == pods);
  }

  void untilMigration(String ns, MigrationPhase phase) {
    until(GpuMigration.class, ns, NAME, it -> it.getStatus().getPhase() == phase);
  }

  void untilSchedule(String ns) {
    until(
        GpuCheckpointSchedule.class,
        ns,
        NAME,
        it -> it.getMetadata().getGeneration().equals(it.getStatus().getObservedGeneration()));
  }

  /** Returns what waits by all that is in the path of a request for it. */
  Map<String, String> owners() {
    Map<String, String> owners = new TreeMap<>(states);
    for (Class<? extends HasMetadata> kind :
        List.of(GpuCheckpoint.class, GpuRestore.class, GpuMigration.class)) {
      for (HasMetadata object : client.resources(kind).inAnyNamespace().list().getItems()) {
        String state = states.get(object.getMetadata().getNamespace());
        if (state != null) {
          owners.put(object.getMetadata().getUid(), state);
        }
      }
    }
    return owners;
  }

  void delete() {
    for (String namespace : states.keySet()) {
      client.namespaces().withName(namespace).delete();
    }
  }
}
