package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Resource;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The state read from a cluster.
 *
 * @param now the current time
 * @param kubernetes version of the API server, such as 1.36
 * @param gpuNodes every GpuNode, with its managed fields
 * @param nodes every node of Kubernetes
 * @param workloads operators (Deployment) and agents (DaemonSet) of Stasis
 * @param pods pods of Stasis
 * @param stores every GpuCheckpointStore
 * @param held pods that are being saved before their eviction, and their budgets
 * @param direct pods that ask for the direct data path, and the GpuCheckpoints of their namespaces
 * @param unseen what could not be read, and why
 */
public record Facts(
    Instant now,
    String kubernetes,
    List<Resource> gpuNodes,
    List<Resource> nodes,
    List<Resource> workloads,
    List<Resource> pods,
    List<Resource> stores,
    List<Resource> held,
    List<Resource> direct,
    Map<String, String> unseen) {

  /** Copies. */
  public Facts {
    gpuNodes = List.copyOf(gpuNodes);
    nodes = List.copyOf(nodes);
    workloads = List.copyOf(workloads);
    pods = List.copyOf(pods);
    stores = List.copyOf(stores);
    held = List.copyOf(held);
    direct = List.copyOf(direct);
    unseen = Map.copyOf(unseen);
  }
}
