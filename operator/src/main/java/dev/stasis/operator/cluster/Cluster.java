package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.util.List;
import java.util.Optional;

/**
 * The observed state of the cluster, read without API requests. It may lag slightly behind.
 * Returned objects are shared and must not be changed. A pod without a GPU is a {@link TrimmedPod},
 * which cannot be written.
 */
public interface Cluster {

  /**
   * Returns an object.
   *
   * @param key its name, after its namespace and a slash if it has one
   */
  <R extends HasMetadata> Optional<R> find(Class<R> kind, String key);

  <R extends HasMetadata> List<R> all(Class<R> kind);

  /** Returns the objects of a kind with a value in one of its indexes. */
  <R extends HasMetadata> List<R> by(String index, String value, Class<R> kind);

  default <R extends HasMetadata> List<R> in(String namespace, Class<R> kind) {
    return by(SharedInformers.BY_NAMESPACE, namespace, kind);
  }

  default Optional<Pod> pod(String namespace, String name) {
    return find(Pod.class, namespace + "/" + name);
  }

  default List<Pod> pods(String namespace) {
    return in(namespace, Pod.class);
  }

  default List<Pod> podsWithoutNode() {
    return by(SharedInformers.BY_NODE, SharedInformers.NO_NODE, Pod.class);
  }

  default List<Pod> podsOn(String node) {
    return by(SharedInformers.BY_NODE, node, Pod.class);
  }

  default Optional<Node> node(String name) {
    return find(Node.class, name);
  }

  default List<Node> nodes() {
    return all(Node.class);
  }

  /** Returns the GpuNode published by that node's agent. */
  default Optional<GpuNode> gpuNode(String name) {
    return find(GpuNode.class, name);
  }

  /** Returns the GpuNodes of all nodes with an agent. */
  default List<GpuNode> gpuNodes() {
    return all(GpuNode.class);
  }

  default Optional<GpuCheckpointStore> store(String name) {
    return find(GpuCheckpointStore.class, name);
  }

  default List<GpuCheckpointStore> stores() {
    return all(GpuCheckpointStore.class);
  }

  default Optional<GpuCheckpoint> checkpoint(String namespace, String name) {
    return find(GpuCheckpoint.class, namespace + "/" + name);
  }

  default List<GpuCheckpoint> checkpoints() {
    return all(GpuCheckpoint.class);
  }

  default List<GpuCheckpoint> checkpoints(String namespace) {
    return in(namespace, GpuCheckpoint.class);
  }

  default List<GpuCheckpoint> checkpoints(String namespace, CheckpointPhase phase) {
    return by(
        SharedInformers.BY_PHASE, SharedInformers.phase(namespace, phase), GpuCheckpoint.class);
  }

  default List<GpuCheckpoint> checkpointsOf(String namespace, String pod) {
    return by(SharedInformers.BY_POD, namespace + "/" + pod, GpuCheckpoint.class);
  }

  /** Returns the GpuCheckpoints that were created for the object with that uid. */
  default List<GpuCheckpoint> checkpointsFor(String uid) {
    return by(SharedInformers.BY_REQUESTER, uid, GpuCheckpoint.class);
  }

  /** Returns all GpuCheckpoints with an artifact in that store. */
  default List<GpuCheckpoint> checkpointsIn(String store) {
    return by(SharedInformers.BY_STORE, store, GpuCheckpoint.class);
  }

  default List<GpuRestore> restores() {
    return all(GpuRestore.class);
  }

  /** Returns the GpuRestores that were created for the object with that uid. */
  default List<GpuRestore> restoresFor(String uid) {
    return by(SharedInformers.BY_REQUESTER, uid, GpuRestore.class);
  }

  default List<GpuRestore> restoresOf(String namespace, String checkpoint) {
    return by(SharedInformers.BY_CHECKPOINT, namespace + "/" + checkpoint, GpuRestore.class);
  }

  default List<GpuMigration> migrations() {
    return all(GpuMigration.class);
  }

  /** Returns the operations that were created for the object with that uid. */
  default List<GpuNodeOperation> operations(String requesterUid) {
    return by(SharedInformers.BY_REQUESTER, requesterUid, GpuNodeOperation.class);
  }

  default List<GpuNodeOperation> operationsOn(String podUid) {
    return by(SharedInformers.BY_POD, podUid, GpuNodeOperation.class);
  }

  default List<GpuNodeOperation> operationsOf(String node) {
    return by(SharedInformers.BY_NODE, node, GpuNodeOperation.class);
  }

  /** Returns the operations on an artifact in that store. */
  default List<GpuNodeOperation> operationsIn(String store) {
    return by(SharedInformers.BY_STORE, store, GpuNodeOperation.class);
  }

  default List<GpuPreemptionPolicy> policies() {
    return all(GpuPreemptionPolicy.class);
  }

  default List<PriorityClass> priorityClasses() {
    return all(PriorityClass.class);
  }

  default Optional<Namespace> namespace(String name) {
    return find(Namespace.class, name);
  }

  /** Returns whether its user wants everything in the namespace gone. */
  default boolean isNamespaceDeleted(String name) {
    return namespace(name)
        .filter(it -> it.getMetadata().getDeletionTimestamp() != null)
        .isPresent();
  }

  /** Returns the namespace; one with nothing but its name if it is unknown. */
  default Namespace namespaceOrName(String name) {
    return namespace(name)
        .orElseGet(
            () -> new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build());
  }

  /** Returns its ResourceQuotas, with their usage. */
  default List<ResourceQuota> quotas(String namespace) {
    return in(namespace, ResourceQuota.class);
  }

  default List<LimitRange> ranges(String namespace) {
    return in(namespace, LimitRange.class);
  }
}
