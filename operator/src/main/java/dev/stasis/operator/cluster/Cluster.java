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

  /** Returns all objects of a kind. */
  <R extends HasMetadata> List<R> all(Class<R> kind);

  /** Returns the objects of a kind with a value in one of its indexes. */
  <R extends HasMetadata> List<R> by(String index, String value, Class<R> kind);

  /** Returns the objects of a kind in a namespace. */
  default <R extends HasMetadata> List<R> in(String namespace, Class<R> kind) {
    return by(SharedInformers.BY_NAMESPACE, namespace, kind);
  }

  /** Returns the pod with that name. */
  default Optional<Pod> pod(String namespace, String name) {
    return find(Pod.class, namespace + "/" + name);
  }

  /** Returns all pods of a namespace. */
  default List<Pod> pods(String namespace) {
    return in(namespace, Pod.class);
  }

  /** Returns all pods without a node. */
  default List<Pod> podsWithoutNode() {
    return by(SharedInformers.BY_NODE, SharedInformers.NO_NODE, Pod.class);
  }

  /** Returns all pods on a node. */
  default List<Pod> podsOn(String node) {
    return by(SharedInformers.BY_NODE, node, Pod.class);
  }

  /** Returns the node with that name. */
  default Optional<Node> node(String name) {
    return find(Node.class, name);
  }

  /** Returns all nodes. */
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

  /** Returns the store with that name. */
  default Optional<GpuCheckpointStore> store(String name) {
    return find(GpuCheckpointStore.class, name);
  }

  /** Returns all stores. */
  default List<GpuCheckpointStore> stores() {
    return all(GpuCheckpointStore.class);
  }

  /** Returns the GpuCheckpoint with that name. */
  default Optional<GpuCheckpoint> checkpoint(String namespace, String name) {
    return find(GpuCheckpoint.class, namespace + "/" + name);
  }

  /** Returns all GpuCheckpoints. */
  default List<GpuCheckpoint> checkpoints() {
    return all(GpuCheckpoint.class);
  }

  /** Returns all GpuCheckpoints of a namespace. */
  default List<GpuCheckpoint> checkpoints(String namespace) {
    return in(namespace, GpuCheckpoint.class);
  }

  /** Returns the GpuCheckpoints of a namespace in that phase. */
  default List<GpuCheckpoint> checkpoints(String namespace, CheckpointPhase phase) {
    return by(
        SharedInformers.BY_PHASE, SharedInformers.phase(namespace, phase), GpuCheckpoint.class);
  }

  /** Returns all GpuCheckpoints of the pod with that name. */
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

  /** Returns all GpuRestores. */
  default List<GpuRestore> restores() {
    return all(GpuRestore.class);
  }

  /** Returns the GpuRestores that were created for the object with that uid. */
  default List<GpuRestore> restoresFor(String uid) {
    return by(SharedInformers.BY_REQUESTER, uid, GpuRestore.class);
  }

  /** Returns all GpuRestores of that GpuCheckpoint. */
  default List<GpuRestore> restoresOf(String namespace, String checkpoint) {
    return by(SharedInformers.BY_CHECKPOINT, namespace + "/" + checkpoint, GpuRestore.class);
  }

  /** Returns all GpuMigrations. */
  default List<GpuMigration> migrations() {
    return all(GpuMigration.class);
  }

  /** Returns the operations that were created for the object with that uid. */
  default List<GpuNodeOperation> operations(String requesterUid) {
    return by(SharedInformers.BY_REQUESTER, requesterUid, GpuNodeOperation.class);
  }

  /** Returns the operations on the pod with that uid. */
  default List<GpuNodeOperation> operationsOn(String podUid) {
    return by(SharedInformers.BY_POD, podUid, GpuNodeOperation.class);
  }

  /** Returns the operations of that node. */
  default List<GpuNodeOperation> operationsOf(String node) {
    return by(SharedInformers.BY_NODE, node, GpuNodeOperation.class);
  }

  /** Returns the operations on an artifact in that store. */
  default List<GpuNodeOperation> operationsIn(String store) {
    return by(SharedInformers.BY_STORE, store, GpuNodeOperation.class);
  }

  /** Returns all policies. */
  default List<GpuPreemptionPolicy> policies() {
    return all(GpuPreemptionPolicy.class);
  }

  /** Returns all priority classes. */
  default List<PriorityClass> priorityClasses() {
    return all(PriorityClass.class);
  }

  /** Returns the namespace with that name. */
  default Optional<Namespace> namespace(String name) {
    return find(Namespace.class, name);
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

  /** Returns its LimitRanges. */
  default List<LimitRange> ranges(String namespace) {
    return in(namespace, LimitRange.class);
  }
}
