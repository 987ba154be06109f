package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.node.NodeStores;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Finds the nodes that cannot read an artifact because another node has mounted the volume of its
 * store, and the access modes of the claim do not allow a second node.
 */
public record VolumeNodes(Cluster cluster) {

  /**
   * Returns the nodes that do not have the volume with an artifact, each with the reason and what
   * to do. Empty if the artifact is not in a volume, or all nodes may mount it.
   */
  public SortedMap<String, String> without(ArtifactStatus artifact) {
    SortedMap<String, String> without = new TreeMap<>();
    String store = artifact.getStore();
    // An artifact that is not uploaded yet is on the disk of its node.
    if (store == null || artifact.getNode() != null) {
      return without;
    }
    Optional<GpuCheckpointStore> found = cluster.store(store);
    ClaimVolume claim =
        found.map(it -> it.getSpec().getLocation().persistentVolumeClaim()).orElse(null);
    VolumeStatus volume =
        found.map(GpuCheckpointStore::getStatus).map(it -> it.getVolume()).orElse(null);
    if (claim == null || volume == null) {
      return without;
    }
    String id = volume.id();
    List<String> modes = volume.accessModes();
    if (id == null || modes == null || volume.reachesAllNodes()) {
      return without;
    }
    List<String> having =
        cluster.gpuNodes().stream()
            .filter(node -> has(node, store, id))
            .map(node -> node.getMetadata().getName())
            .sorted()
            .toList();
    String mounted =
        "the volume of claim %s (%s) mounted"
            .formatted(claim.claimName(), String.join(", ", modes));
    for (GpuNode node : cluster.gpuNodes()) {
      String name = node.getMetadata().getName();
      if (having.isEmpty()) {
        without.put(
            name,
            "store %s: expected a node that has %s, got none; see kubectl get pods -A -l %s=%s"
                .formatted(store, mounted, Api.STORE_LABEL, store));
      } else if (!having.contains(name)) {
        without.put(
            name,
            ("store %s: expected node %s, which has %s, got %s; restore it there, or use a claim"
                    + " with access mode ReadWriteMany")
                .formatted(store, String.join(" or ", having), mounted, name));
      }
    }
    return without;
  }

  /** What a node has mounted, not what it can write to: a restore only reads. */
  private static boolean has(GpuNode node, String store, String volumeId) {
    return NodeStores.of(node).list().stream()
        .anyMatch(seen -> seen.name().equals(store) && volumeId.equals(seen.volumeId()));
  }
}
