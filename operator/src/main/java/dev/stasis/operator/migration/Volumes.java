package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.operator.selector.NodeTerms;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Whether the volumes of a pod can be used on another node: while they are used on its own, or
 * afterwards.
 */
class Volumes {

  private static final Set<String> BY_MANY = Set.of("ReadWriteMany", "ReadOnlyMany");

  private final KubernetesClient client;

  Volumes(KubernetesClient client) {
    this.client = client;
  }

  /** Returns every volume that cannot. */
  List<Fault> against(Pod pod, MigrationStrategy order) {
    return pod.getSpec().getVolumes().stream()
        .flatMap(volume -> against(pod, volume, order).stream())
        .toList();
  }

  /**
   * Returns what excludes nodes: a disk that cannot be used there. The scheduler applies the same
   * rules, but late: with {@code strategy: Recreate} only after the source is gone.
   *
   * @return a sentence for each such node
   */
  Map<String, String> against(Pod pod, Collection<Node> nodes) {
    Map<String, String> against = new HashMap<>();
    for (Volume volume : pod.getSpec().getVolumes()) {
      disk(pod, volume)
          .filter(disk -> disk.getSpec().getNodeAffinity() != null)
          .filter(disk -> disk.getSpec().getNodeAffinity().getRequired() != null)
          .ifPresent(
              disk -> {
                NodeTerms terms = new NodeTerms(disk.getSpec().getNodeAffinity().getRequired());
                nodes.stream()
                    .filter(node -> !terms.fulfilledBy(node))
                    .forEach(
                        node ->
                            against.putIfAbsent(
                                node.getMetadata().getName(), sentence(volume, disk)));
              });
    }
    return against;
  }

  private static String sentence(Volume volume, PersistentVolume disk) {
    return "spec.volumes[%s]: expected a node that PersistentVolume %s allows, got another"
        .formatted(volume.getName(), disk.getMetadata().getName());
  }

  private Optional<PersistentVolume> disk(Pod pod, Volume volume) {
    return Optional.ofNullable(volume.getPersistentVolumeClaim())
        .flatMap(source -> claim(pod, source.getClaimName()))
        .map(claim -> claim.getSpec().getVolumeName())
        .flatMap(this::disk);
  }

  /**
   * With an older chart the operator may not read volumes, so only the scheduler decides, as
   * before.
   */
  private Optional<PersistentVolume> disk(String name) {
    try {
      return Optional.ofNullable(client.persistentVolumes().withName(name).get());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Returns the claim in the API server; empty if there is none. */
  Optional<PersistentVolumeClaim> claim(Pod pod, String name) {
    return Optional.ofNullable(
        client
            .persistentVolumeClaims()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(name)
            .get());
  }

  private Optional<Fault> against(Pod pod, Volume volume, MigrationStrategy order) {
    if (volume.getHostPath() != null) {
      // Volumes that are only read are compared before the restore, file by file.
      return isOnlyRead(pod, volume)
          ? Optional.empty()
          : Optional.of(
              fault(
                  volume,
                  "one that is available on another node, or is mounted readOnly",
                  "the node's own hostPath " + volume.getHostPath().getPath() + ", writable"));
    }
    if (volume.getPersistentVolumeClaim() == null) {
      return Optional.empty();
    }
    String name = volume.getPersistentVolumeClaim().getClaimName();
    Optional<PersistentVolumeClaim> claim = claim(pod, name);
    List<String> modes = claim.map(found -> found.getSpec().getAccessModes()).orElseGet(List::of);
    if (claim.isPresent() && order == MigrationStrategy.RECREATE) {
      return Optional.empty();
    }
    return modes.stream().anyMatch(BY_MANY::contains)
        ? Optional.empty()
        : Optional.of(
            fault(
                volume,
                "a claim that two nodes may mount at once, one of "
                    + BY_MANY.stream().sorted().toList(),
                claim.isEmpty()
                    ? "claim " + name + ", which does not exist"
                    : "claim %s with %s; strategy: Recreate removes the source first"
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
    return Reason.VOLUME_CANNOT_FOLLOW.misfit(
        "spec.volumes[" + volume.getName() + "]", wanted, found);
  }
}
