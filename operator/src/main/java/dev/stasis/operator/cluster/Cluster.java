package dev.stasis.operator.cluster;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.GpuNode;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.GpuRestore;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.util.List;
import java.util.Optional;

/**
 * What is known of the cluster, without a request. It may lag behind by a moment; what is given out
 * belongs to everybody and is not changed. A pod without a GPU is an {@link OrdinaryPod}, and
 * nobody can write it.
 */
public interface Cluster {

  /** The pod of that name. */
  Optional<Pod> pod(String namespace, String name);

  /** All pods of a namespace. */
  List<Pod> pods(String namespace);

  /** All pods that have no node yet. */
  List<Pod> podsWithoutNode();

  /** All pods on a node. */
  List<Pod> podsOn(String node);

  /** The node of that name. */
  Optional<Node> node(String name);

  /** All nodes. */
  List<Node> nodes();

  /** What the agent of that node published. */
  Optional<GpuNode> gpuNode(String name);

  /** The same of every node with an agent. */
  List<GpuNode> gpuNodes();

  /** The store of that name. */
  Optional<GpuCheckpointStore> store(String name);

  /** All stores. */
  List<GpuCheckpointStore> stores();

  /** The GpuCheckpoint of that name. */
  Optional<GpuCheckpoint> checkpoint(String namespace, String name);

  /** All GpuCheckpoints of a namespace. */
  List<GpuCheckpoint> checkpoints(String namespace);

  /** All GpuCheckpoints of the pod of that name. */
  List<GpuCheckpoint> checkpointsOf(String namespace, String pod);

  /** The GpuCheckpoints that were made for the object with that uid. */
  List<GpuCheckpoint> checkpointsFor(String uid);

  /** All GpuCheckpoints whose artifact lies in that store. */
  List<GpuCheckpoint> checkpointsIn(String store);

  /** All GpuRestores of a namespace. */
  List<GpuRestore> restores(String namespace);

  /** The GpuRestores that were made for the object with that uid. */
  List<GpuRestore> restoresFor(String uid);

  /** All GpuRestores of that GpuCheckpoint. */
  List<GpuRestore> restoresOf(String namespace, String checkpoint);

  /** All GpuMigrations. */
  List<GpuMigration> migrations();

  /** The operations that were made for the object with that uid. */
  List<GpuNodeOperation> operations(String requesterUid);

  /** The operations that work on the pod with that uid. */
  List<GpuNodeOperation> operationsOn(String podUid);

  /** The operations of that node. */
  List<GpuNodeOperation> operationsOf(String node);

  /** The operations that have to do with an artifact in that store. */
  List<GpuNodeOperation> operationsIn(String store);

  /** All policies. */
  List<GpuPreemptionPolicy> policies();

  /** All priority classes. */
  List<PriorityClass> priorityClasses();

  /** The namespace of that name. */
  Optional<Namespace> namespace(String name);

  /** Its quotas, with their use. */
  List<ResourceQuota> quotas(String namespace);

  /** Its ranges. */
  List<LimitRange> ranges(String namespace);
}
