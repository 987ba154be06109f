package dev.stasis.operator.testing;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.ClusterParts;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A cluster that is what a test says. */
public final class FakeCluster implements Cluster {

  private static final TestConfig CONFIG = new TestConfig("stasis-system");

  public final List<Pod> pods = new ArrayList<>();
  public final List<Node> nodes = new ArrayList<>();
  public final List<GpuNode> gpuNodes = new ArrayList<>();
  public final List<GpuCheckpointStore> stores = new ArrayList<>();
  public final List<GpuCheckpoint> checkpoints = new ArrayList<>();
  public final List<GpuMigration> migrations = new ArrayList<>();
  public final List<GpuPreemptionPolicy> policies = new ArrayList<>();
  public final List<PriorityClass> priorityClasses = new ArrayList<>();
  public final List<GpuRestore> restores = new ArrayList<>();
  public final Map<String, GpuNodeOperation> operations = new LinkedHashMap<>();

  public final List<ResourceQuota> quotas = new ArrayList<>();
  public final List<LimitRange> ranges = new ArrayList<>();

  /** Name of an operation that comes into the cache between the first look and the second. */
  public @Nullable String late;

  public @Nullable Namespace namespace;

  /** How often the pods of each node were read. */
  public final Map<String, Integer> reads = new HashMap<>();

  @Override
  public Optional<Pod> pod(String namespace, String name) {
    return kept(pod ->
            pod.getMetadata().getName().equals(name)
                && pod.getMetadata().getNamespace().equals(namespace))
        .findFirst();
  }

  @Override
  public List<Pod> pods(String namespace) {
    return kept(pod -> namespace.equals(pod.getMetadata().getNamespace())).toList();
  }

  private static <T extends HasMetadata> List<T> in(String namespace, List<T> all) {
    return all.stream().filter(it -> namespace.equals(it.getMetadata().getNamespace())).toList();
  }

  @Override
  public List<Pod> podsWithoutNode() {
    return kept(pod -> pod.getSpec().getNodeName() == null).toList();
  }

  @Override
  public List<Pod> podsOn(String node) {
    reads.merge(node, 1, Integer::sum);
    return kept(pod -> node.equals(pod.getSpec().getNodeName())).toList();
  }

  /** As in the product: a decision by a field that the informer does not keep fails here. */
  private Stream<Pod> kept(Predicate<Pod> selected) {
    return pods.stream().filter(selected).map(pod -> ClusterParts.kept(pod, CONFIG));
  }

  @Override
  public Optional<Node> node(String name) {
    return nodes.stream().filter(node -> node.getMetadata().getName().equals(name)).findFirst();
  }

  @Override
  public List<Node> nodes() {
    return nodes;
  }

  @Override
  public Optional<GpuNode> gpuNode(String name) {
    return gpuNodes.stream().filter(node -> node.getMetadata().getName().equals(name)).findFirst();
  }

  @Override
  public List<GpuNode> gpuNodes() {
    return gpuNodes;
  }

  @Override
  public Optional<GpuCheckpointStore> store(String name) {
    return stores.stream().filter(store -> store.getMetadata().getName().equals(name)).findFirst();
  }

  @Override
  public List<GpuCheckpointStore> stores() {
    return stores;
  }

  @Override
  public Optional<GpuCheckpoint> checkpoint(String namespace, String name) {
    return checkpoints(namespace).stream()
        .filter(it -> it.getMetadata().getName().equals(name))
        .findFirst();
  }

  @Override
  public List<GpuCheckpoint> checkpoints(String namespace) {
    return in(namespace, checkpoints);
  }

  @Override
  public List<GpuCheckpoint> checkpointsOf(String namespace, String pod) {
    return checkpoints(namespace).stream()
        .filter(it -> it.getSpec().podName().equals(pod))
        .toList();
  }

  @Override
  public List<GpuCheckpoint> checkpointsFor(String uid) {
    return checkpoints.stream().filter(it -> isFor(it, uid)).toList();
  }

  private static boolean isFor(HasMetadata made, String uid) {
    return made.getMetadata().getLabels() != null
        && uid.equals(made.getMetadata().getLabels().get(Api.OPERATION_UID_LABEL));
  }

  @Override
  public List<GpuCheckpoint> checkpointsIn(String store) {
    return checkpoints.stream().filter(it -> ClusterParts.isIn(it, store)).toList();
  }

  @Override
  public List<GpuRestore> restores(String namespace) {
    return in(namespace, restores);
  }

  @Override
  public List<GpuRestore> restoresFor(String uid) {
    return restores.stream().filter(it -> isFor(it, uid)).toList();
  }

  @Override
  public List<GpuRestore> restoresOf(String namespace, String checkpoint) {
    return restores(namespace).stream()
        .filter(restore -> restore.getSpec().checkpointName().equals(checkpoint))
        .toList();
  }

  @Override
  public List<GpuMigration> migrations() {
    return List.copyOf(migrations);
  }

  @Override
  public List<GpuNodeOperation> operations(String requesterUid) {
    String hidden = late;
    late = null;
    return operations.values().stream()
        .filter(operation -> !operation.getMetadata().getName().equals(hidden))
        .filter(
            operation ->
                requesterUid.equals(
                    operation.getMetadata().getLabels().get(Api.OPERATION_UID_LABEL)))
        .toList();
  }

  @Override
  public List<GpuNodeOperation> operationsOn(String podUid) {
    return operations.values().stream()
        .filter(operation -> podUid.equals(uid(operation.getSpec().getPod())))
        .toList();
  }

  private static @Nullable String uid(@Nullable OperationPod pod) {
    return pod == null ? null : pod.uid();
  }

  @Override
  public List<GpuNodeOperation> operationsOf(String node) {
    return operations.values().stream()
        .filter(operation -> operation.getSpec().getNodeName().equals(node))
        .toList();
  }

  @Override
  public List<GpuNodeOperation> operationsIn(String store) {
    return operations.values().stream()
        .filter(
            operation ->
                operation.getSpec().getArtifact() != null
                    && operation.getSpec().getArtifact().store().equals(store))
        .toList();
  }

  @Override
  public List<GpuPreemptionPolicy> policies() {
    return policies;
  }

  @Override
  public List<PriorityClass> priorityClasses() {
    return priorityClasses;
  }

  @Override
  public Optional<Namespace> namespace(String name) {
    return Optional.ofNullable(namespace).filter(it -> it.getMetadata().getName().equals(name));
  }

  @Override
  public List<ResourceQuota> quotas(String namespace) {
    return in(namespace, quotas);
  }

  @Override
  public List<LimitRange> ranges(String namespace) {
    return in(namespace, ranges);
  }
}
