package dev.stasis.agent.daemon.remote;

import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.store.StoreException;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Volumes that the chart's mount pods keep mounted, one pod per store and node. The agent reaches a
 * volume through the root folder of the pod's process: that path works only while the process
 * lives, and for as long the kubelet does not unmount the volume. The kubelet's own folder would,
 * for a moment after an unmount, be an empty folder on the disk of the node.
 */
public final class MountPods implements ClaimMounts {

  /** The container of the chart's mount pods. */
  public static final String CONTAINER = "mount";

  /** Where it has the volume. */
  public static final String VOLUME = "/volume";

  private final Pods pods;
  private final String namespace;
  private final String node;
  private final PodContainers containers;
  private final ProcFs proc;

  /**
   * Finds the pods of one node.
   *
   * @param namespace the operator's namespace
   */
  public MountPods(
      Pods pods, String namespace, String node, PodContainers containers, ProcFs proc) {
    this.pods = pods;
    this.namespace = namespace;
    this.node = node;
    this.containers = containers;
    this.proc = proc;
  }

  /** Lists mount pods of this node. */
  public interface Pods {
    /** Returns the mount pods of a store on this node. */
    List<Pod> ofStore(String store) throws StoreException;
  }

  @Override
  public MountedVolume find(GpuCheckpointStore store) throws StoreException {
    ClaimVolume claim =
        Objects.requireNonNull(store.getSpec().getLocation().persistentVolumeClaim());
    Pod pod = pod(store, claim);
    String name = "mount pod %s/%s".formatted(namespace, pod.getMetadata().getName());
    ProcessId process = process(pod, name, store);
    if (proc.mounts(process.pid()).stream().noneMatch(it -> it.mountPoint().equals(VOLUME))) {
      throw new StoreException.Unreachable(
          "%s: expected a mount at %s, got none".formatted(name, VOLUME), null);
    }
    Path root = proc.folder(process.pid()).resolve("root" + VOLUME);
    MountedVolume volume = new MountedVolume(root, () -> require(root, process, name));
    volume.mount().require();
    return volume;
  }

  /** A process that is ending loses its root folder first, and a later one may have its pid. */
  private void require(Path root, ProcessId process, String name) throws StoreException {
    if (!Files.isDirectory(root) || !proc.alive(process)) {
      throw new StoreException.Unreachable(
          "%s: expected process %s to keep the volume mounted, got that it ended"
              .formatted(name, process),
          null);
    }
  }

  private Pod pod(GpuCheckpointStore store, ClaimVolume claim) throws StoreException {
    String name = store.getMetadata().getName();
    return pods.ofStore(name).stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null && mounts(pod, claim))
        .findFirst()
        .orElseThrow(
            () ->
                new StoreException.Unreachable(
                    ("mount pod of claim %s/%s: expected one on node %s, got none; name the store"
                            + " in the chart's value stores, and see kubectl -n %s get pods -l"
                            + " %s=%s")
                        .formatted(
                            namespace, claim.claimName(), node, namespace, Api.STORE_LABEL, name),
                    null));
  }

  private static boolean mounts(Pod pod, ClaimVolume claim) {
    return pod.getSpec().getVolumes().stream()
        .map(volume -> volume.getPersistentVolumeClaim())
        .anyMatch(source -> source != null && claim.claimName().equals(source.getClaimName()));
  }

  private ProcessId process(Pod pod, String name, GpuCheckpointStore store) throws StoreException {
    try {
      PodContainers.Located located = containers.locate(pod.getMetadata().getUid(), CONTAINER);
      if (located instanceof PodContainers.Located.Running running) {
        return running.process().id();
      }
    } catch (NodeApiException e) {
      throw new StoreException.Unreachable(name + ": " + e.getMessage(), e);
    }
    throw new StoreException.Unreachable(
        "%s: expected it to run, got phase %s; see kubectl -n %s describe pod %s%s"
            .formatted(
                name,
                pod.getStatus() == null ? "Pending" : pod.getStatus().getPhase(),
                namespace,
                pod.getMetadata().getName(),
                isForOneNode(store)
                    ? ". The claim is not ReadWriteMany: one node at a time mounts it"
                    : ""),
        null);
  }

  private static boolean isForOneNode(GpuCheckpointStore store) {
    return Optional.ofNullable(store.getStatus())
        .map(status -> status.getVolume())
        .filter(volume -> volume.accessModes() != null && !volume.reachesAllNodes())
        .isPresent();
  }
}
