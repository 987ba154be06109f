package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Whether the volumes of a pod can be used on another node: while they are used on its own, or once
 * they are not.
 */
class Volumes {

  private static final Set<String> BY_MANY = Set.of("ReadWriteMany", "ReadOnlyMany");

  private final KubernetesClient client;

  Volumes(KubernetesClient client) {
    this.client = client;
  }

  /** Every volume that cannot. */
  List<Fault> against(Pod pod, MigrationOrder order) {
    return pod.getSpec().getVolumes().stream()
        .flatMap(volume -> against(pod, volume, order).stream())
        .toList();
  }

  private Optional<Fault> against(Pod pod, Volume volume, MigrationOrder order) {
    if (volume.getHostPath() != null) {
      // What is only read there is compared before the restore, file by file.
      return isOnlyRead(pod, volume)
          ? Optional.empty()
          : Optional.of(
              fault(
                  volume,
                  "one that follows to another node, or is mounted readOnly",
                  "the node's own hostPath " + volume.getHostPath().getPath() + ", writable"));
    }
    if (volume.getPersistentVolumeClaim() == null) {
      return Optional.empty();
    }
    String name = volume.getPersistentVolumeClaim().getClaimName();
    PersistentVolumeClaim claim =
        client
            .persistentVolumeClaims()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(name)
            .get();
    List<String> modes = claim == null ? List.of() : claim.getSpec().getAccessModes();
    if (claim != null && order == MigrationOrder.SOURCE_FIRST) {
      return Optional.empty();
    }
    return modes.stream().anyMatch(BY_MANY::contains)
        ? Optional.empty()
        : Optional.of(
            fault(
                volume,
                "a claim that two nodes may mount at once, one of "
                    + BY_MANY.stream().sorted().toList(),
                claim == null
                    ? "claim " + name + ", which is not there"
                    : "claim %s with %s; order: SourceFirst removes the source first"
                        .formatted(name, modes)));
  }

  private static boolean isOnlyRead(Pod pod, Volume volume) {
    return Stream.concat(
            pod.getSpec().getContainers().stream(), pod.getSpec().getInitContainers().stream())
        .flatMap(container -> container.getVolumeMounts().stream())
        .filter(mount -> mount.getName().equals(volume.getName()))
        .allMatch(mount -> Boolean.TRUE.equals(mount.getReadOnly()));
  }

  private static Fault fault(Volume volume, String wanted, String found) {
    return Fault.misfit(
        Reason.VOLUME_CANNOT_FOLLOW.word(),
        "spec.volumes[" + volume.getName() + "]",
        wanted,
        found);
  }
}
