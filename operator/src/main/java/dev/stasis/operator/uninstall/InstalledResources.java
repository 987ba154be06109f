package dev.stasis.operator.uninstall;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import java.util.List;
import java.util.Set;

/**
 * All resources of Stasis in a cluster.
 *
 * @param removedNodes names of the GpuNodes that report frozen workloads although their Kubernetes
 *     node was removed
 */
public record InstalledResources(
    List<GpuCheckpoint> checkpoints,
    List<GpuRestore> restores,
    List<GpuMigration> migrations,
    List<GpuNodeOperation> operations,
    List<GpuNode> nodes,
    Set<String> removedNodes) {

  /** Copies. */
  public InstalledResources {
    checkpoints = List.copyOf(checkpoints);
    restores = List.copyOf(restores);
    migrations = List.copyOf(migrations);
    operations = List.copyOf(operations);
    nodes = List.copyOf(nodes);
    removedNodes = Set.copyOf(removedNodes);
  }
}
