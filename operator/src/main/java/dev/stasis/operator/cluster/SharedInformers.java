package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The watched kinds and their indexes. */
final class SharedInformers {

  static final String BY_NAMESPACE = "namespace";
  static final String BY_NODE = "node";
  static final String BY_REQUESTER = "requester";
  static final String BY_POD = "pod";
  static final String BY_STORE = "store";
  static final String BY_CHECKPOINT = "checkpoint";
  static final String BY_PHASE = "phase";

  /** No node has that name. */
  static final String NO_NODE = "";

  /**
   * Page size of the initial lists, as in kubectl: unpaged lists of a large cluster do not fit into
   * the heap.
   */
  private static final long PAGE = 500;

  private static final Map<String, Function<Pod, List<String>>> OF_PODS =
      Map.of(
          BY_NAMESPACE,
          SharedInformers::namespaceOf,
          BY_NODE,
          pod -> List.of(Objects.requireNonNullElse(pod.getSpec().getNodeName(), NO_NODE)));

  private static final Map<String, Function<GpuCheckpoint, List<String>>> OF_CHECKPOINTS =
      Map.of(
          BY_NAMESPACE, SharedInformers::namespaceOf,
          BY_STORE, checkpoint -> listOf(storeOf(checkpoint)),
          BY_POD, SharedInformers::podOf,
          BY_PHASE, SharedInformers::phaseOf,
          BY_REQUESTER, SharedInformers::requesterOf);

  private static final Map<String, Function<GpuRestore, List<String>>> OF_RESTORES =
      Map.of(
          BY_NAMESPACE, SharedInformers::namespaceOf,
          BY_CHECKPOINT, SharedInformers::checkpointOf,
          BY_REQUESTER, SharedInformers::requesterOf);

  private static final Map<String, Function<HasMetadata, List<String>>> OF_NAMESPACES =
      Map.of(BY_NAMESPACE, SharedInformers::namespaceOf);

  private static final Map<String, Function<GpuNodeOperation, List<String>>> OF_OPERATIONS =
      Map.of(
          BY_REQUESTER, SharedInformers::requesterOf,
          BY_NODE, operation -> label(operation, Api.NODE_LABEL),
          BY_POD, operation -> listOf(podUid(operation)),
          BY_STORE, operation -> listOf(storeOf(operation)));

  private static final Map<Class<?>, Map<String, ?>> INDEXERS =
      Map.of(
          Pod.class, OF_PODS,
          GpuCheckpoint.class, OF_CHECKPOINTS,
          GpuRestore.class, OF_RESTORES,
          GpuNodeOperation.class, OF_OPERATIONS,
          ResourceQuota.class, OF_NAMESPACES,
          LimitRange.class, OF_NAMESPACES);

  private final KubernetesClient client;
  private final Map<Class<? extends HasMetadata>, SharedInformer<?>> all = new LinkedHashMap<>();

  SharedInformers(KubernetesClient client, StasisConfig config) {
    this.client = client;
    Set<String> gpus = Set.copyOf(config.gpuResources());
    add(Pod.class, new PodTransform(gpus));
    add(Node.class, new NodeTransform(gpus));
    for (Class<? extends HasMetadata> kind :
        List.of(
            Namespace.class,
            ResourceQuota.class,
            LimitRange.class,
            GpuNode.class,
            GpuCheckpointStore.class,
            GpuCheckpoint.class,
            GpuRestore.class,
            GpuPreemptionPolicy.class,
            PriorityClass.class,
            GpuMigration.class)) {
      add(kind, UnaryOperator.identity());
    }
    add(
        GpuNodeOperation.class,
        UnaryOperator.identity(),
        client.resources(GpuNodeOperation.class).inNamespace(config.namespace()));
  }

  private <R extends HasMetadata> void add(Class<R> kind, UnaryOperator<R> kept) {
    add(kind, kept, client.resources(kind).inAnyNamespace());
  }

  private <R extends HasMetadata, L extends KubernetesResourceList<R>> void add(
      Class<R> kind,
      UnaryOperator<R> kept,
      FilterWatchListDeletable<R, L, ? extends Resource<R>> objects) {
    // Without this, each event of every watch is read as maps first, and then converted.
    client.getKubernetesSerialization().registerKubernetesResource(kind);
    all.put(
        kind,
        new SharedInformer<>(objects.withLimit(PAGE).runnableInformer(0), indexers(kind), kept));
  }

  /** Returns the indexes of a kind: each has values of an object. */
  @SuppressWarnings("unchecked") // the indexes of the kind
  static <R> Map<String, Function<R, List<String>>> indexers(Class<R> kind) {
    return (Map<String, Function<R, List<String>>>) INDEXERS.getOrDefault(kind, Map.of());
  }

  Map<Class<? extends HasMetadata>, SharedInformer<?>> all() {
    return all;
  }

  /** Returns the value of {@link #BY_PHASE}. */
  static String phase(String namespace, CheckpointPhase phase) {
    return namespace + "/" + phase.value();
  }

  private static List<String> phaseOf(GpuCheckpoint checkpoint) {
    CheckpointPhase phase =
        checkpoint.getStatus() == null ? null : checkpoint.getStatus().getPhase();
    return List.of(
        phase(
            checkpoint.getMetadata().getNamespace(),
            Objects.requireNonNullElse(phase, CheckpointPhase.PENDING)));
  }

  private static List<String> namespaceOf(HasMetadata object) {
    return listOf(object.getMetadata().getNamespace());
  }

  private static List<String> requesterOf(HasMetadata object) {
    return label(object, Api.OPERATION_UID_LABEL);
  }

  private static List<String> label(HasMetadata object, String key) {
    return Marks.label(object, key).stream().toList();
  }

  private static @Nullable String podUid(GpuNodeOperation operation) {
    OperationPod pod = operation.getSpec().getPod();
    return pod == null ? null : pod.uid();
  }

  private static @Nullable String storeOf(GpuNodeOperation operation) {
    ArtifactReference artifact = operation.getSpec().getArtifact();
    return artifact == null ? null : artifact.store();
  }

  private static @Nullable String storeOf(GpuCheckpoint checkpoint) {
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
