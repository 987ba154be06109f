package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The watched kinds and their indexes. */
final class SharedInformers {

  static final String BY_NODE = "node";
  static final String BY_REQUESTER = "requester";
  static final String BY_POD = "pod";
  static final String BY_STORE = "store";
  static final String BY_CHECKPOINT = "checkpoint";

  /** No node has that name. */
  static final String NO_NODE = "";

  /**
   * Page size of the initial lists, as in kubectl: unpaged lists of a large cluster do not fit into
   * the heap.
   */
  private static final long PAGE = 500;

  private final Map<Class<? extends HasMetadata>, SharedInformer<?>> all = new LinkedHashMap<>();

  SharedInformers(KubernetesClient client, StasisConfig config) {
    add(
        Pod.class,
        new SharedInformer<>(
            client.pods().inAnyNamespace().withLimit(PAGE).runnableInformer(0),
            Map.of(
                BY_NODE,
                pod -> List.of(Objects.requireNonNullElse(pod.getSpec().getNodeName(), NO_NODE))),
            new PodTransform(Set.copyOf(config.gpuResources()))));
    add(
        Node.class,
        new SharedInformer<>(
            client.nodes().withLimit(PAGE).runnableInformer(0),
            Map.of(),
            new NodeTransform(Set.copyOf(config.gpuResources()))));
    add(Namespace.class, new SharedInformer<>(client.namespaces().runnableInformer(0), Map.of()));
    add(
        ResourceQuota.class,
        new SharedInformer<>(
            client.resourceQuotas().inAnyNamespace().runnableInformer(0), Map.of()));
    add(
        LimitRange.class,
        new SharedInformer<>(client.limitRanges().inAnyNamespace().runnableInformer(0), Map.of()));
    add(
        GpuNode.class,
        new SharedInformer<>(client.resources(GpuNode.class).runnableInformer(0), Map.of()));
    add(
        GpuCheckpointStore.class,
        new SharedInformer<>(
            client.resources(GpuCheckpointStore.class).runnableInformer(0), Map.of()));
    add(
        GpuCheckpoint.class,
        new SharedInformer<>(
            client
                .resources(GpuCheckpoint.class)
                .inAnyNamespace()
                .withLimit(PAGE)
                .runnableInformer(0),
            Map.of(
                BY_STORE, checkpoint -> listOf(storeOf(checkpoint)),
                BY_POD, SharedInformers::podOf,
                BY_REQUESTER, checkpoint -> label(checkpoint, Api.OPERATION_UID_LABEL))));
    add(
        GpuRestore.class,
        new SharedInformer<>(
            client.resources(GpuRestore.class).inAnyNamespace().withLimit(PAGE).runnableInformer(0),
            Map.of(
                BY_CHECKPOINT,
                SharedInformers::checkpointOf,
                BY_REQUESTER,
                restore -> label(restore, Api.OPERATION_UID_LABEL))));
    add(
        GpuPreemptionPolicy.class,
        new SharedInformer<>(
            client.resources(GpuPreemptionPolicy.class).runnableInformer(0), Map.of()));
    add(
        PriorityClass.class,
        new SharedInformer<>(
            client.scheduling().v1().priorityClasses().runnableInformer(0), Map.of()));
    add(
        GpuMigration.class,
        new SharedInformer<>(
            client
                .resources(GpuMigration.class)
                .inAnyNamespace()
                .withLimit(PAGE)
                .runnableInformer(0),
            Map.of()));
    add(
        GpuNodeOperation.class,
        new SharedInformer<>(
            client
                .resources(GpuNodeOperation.class)
                .inNamespace(config.namespace())
                .withLimit(PAGE)
                .runnableInformer(0),
            operationIndexers()));
  }

  static Map<String, Function<GpuNodeOperation, List<String>>> operationIndexers() {
    return Map.of(
        BY_REQUESTER, operation -> label(operation, Api.OPERATION_UID_LABEL),
        BY_NODE, operation -> label(operation, Api.NODE_LABEL),
        BY_POD, operation -> listOf(podUid(operation)),
        BY_STORE, operation -> listOf(storeOf(operation)));
  }

  private <R extends HasMetadata> void add(Class<R> kind, SharedInformer<R> watched) {
    all.put(kind, watched);
  }

  Map<Class<? extends HasMetadata>, SharedInformer<?>> all() {
    return all;
  }

  private static List<String> label(HasMetadata object, String key) {
    Map<String, String> labels = object.getMetadata().getLabels();
    return labels == null ? List.of() : listOf(labels.get(key));
  }

  private static @Nullable String podUid(GpuNodeOperation operation) {
    OperationPod pod = operation.getSpec().getPod();
    return pod == null ? null : pod.uid();
  }

  private static @Nullable String storeOf(GpuNodeOperation operation) {
    ArtifactReference artifact = operation.getSpec().getArtifact();
    return artifact == null ? null : artifact.store();
  }

  static @Nullable String storeOf(GpuCheckpoint checkpoint) {
    ArtifactStatus artifact =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getArtifact();
    return artifact == null ? null : artifact.getStore();
  }

  private static List<String> podOf(GpuCheckpoint checkpoint) {
    // The pod of an import does not exist.
    return checkpoint.getSpec().getImportFrom() == null
        ? List.of(checkpoint.getMetadata().getNamespace() + "/" + checkpoint.getSpec().podName())
        : List.of();
  }

  private static List<String> checkpointOf(GpuRestore restore) {
    return List.of(restore.getMetadata().getNamespace() + "/" + restore.getSpec().checkpointName());
  }

  private static List<String> listOf(@Nullable String value) {
    return value == null ? List.of() : List.of(value);
  }
}
