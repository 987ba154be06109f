package dev.stasis.operator.cluster;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.GpuRestore;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
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

  /** Returns the pod with that name. */
  Optional<Pod> pod(String namespace, String name);

  /** Returns all pods of a namespace. */
  List<Pod> pods(String namespace);

  /** Returns all pods without a node. */
  List<Pod> podsWithoutNode();

  /** Returns all pods on a node. */
  List<Pod> podsOn(String node);

  /** Returns the node with that name. */
  Optional<Node> node(String name);

  /** Returns all nodes. */
  List<Node> nodes();

  /** Returns the GpuNode published by that node's agent. */
  Optional<GpuNode> gpuNode(String name);

  /** Returns the GpuNodes of all nodes with an agent. */
  List<GpuNode> gpuNodes();

  /** Returns the store with that name. */
  Optional<GpuCheckpointStore> store(String name);

  /** Returns all stores. */
  List<GpuCheckpointStore> stores();

  /** Returns the GpuCheckpoint with that name. */
  Optional<GpuCheckpoint> checkpoint(String namespace, String name);

  /** Returns all GpuCheckpoints of a namespace. */
  List<GpuCheckpoint> checkpoints(String namespace);

  /** Returns all GpuCheckpoints of the pod with that name. */
  List<GpuCheckpoint> checkpointsOf(String namespace, String pod);

  /** Returns the GpuCheckpoints that were created for the object with that uid. */
  List<GpuCheckpoint> checkpointsFor(String uid);

  /** Returns all GpuCheckpoints with an artifact in that store. */
  List<GpuCheckpoint> checkpointsIn(String store);

  /** Returns all GpuRestores of a namespace. */
  List<GpuRestore> restores(String namespace);

  /** Returns the GpuRestores that were created for the object with that uid. */
  List<GpuRestore> restoresFor(String uid);

  /** Returns all GpuRestores of that GpuCheckpoint. */
  List<GpuRestore> restoresOf(String namespace, String checkpoint);

  /** Returns all GpuMigrations. */
  List<GpuMigration> migrations();

  /** Returns the operations that were created for the object with that uid. */
  List<GpuNodeOperation> operations(String requesterUid);

  /** Returns the operations on the pod with that uid. */
  List<GpuNodeOperation> operationsOn(String podUid);

  /** Returns the operations of that node. */
  List<GpuNodeOperation> operationsOf(String node);

  /** Returns the operations on an artifact in that store. */
  List<GpuNodeOperation> operationsIn(String store);

  /** Returns all policies. */
  List<GpuPreemptionPolicy> policies();

  /** Returns all priority classes. */
  List<PriorityClass> priorityClasses();

  /** Returns the namespace with that name. */
  Optional<Namespace> namespace(String name);

  /** Returns its ResourceQuotas, with their usage. */
  List<ResourceQuota> quotas(String namespace);

  /** Returns its LimitRanges. */
  List<LimitRange> ranges(String namespace);
}
