package dev.stasis.agent.daemon.kubelet;

import java.util.List;

/**
 * A container of a pod, as the runtime knows it.
 *
 * @param namespace the pod's namespace
 * @param pod the pod's name
 * @param name its name in the pod
 * @param id the runtime's id, 64 hexadecimal digits
 * @param mounts the mounts requested by the kubelet, in the runtime's order
 */
public record PodContainer(
    String namespace,
    String pod,
    String podUid,
    String name,
    String id,
    Image image,
    List<PodMount> mounts) {

  public PodContainer {
    mounts = List.copyOf(mounts);
  }

  /**
   * An image.
   *
   * @param name the name that the pod uses
   * @param id the runtime's id of the running image: {@code sha256:...}
   * @param repoDigests {@code repo@sha256:...}; empty for an image without a registry
   */
  public record Image(String name, String id, List<String> repoDigests) {
    public Image {
      repoDigests = List.copyOf(repoDigests);
    }

    /** The name of the image on other nodes: a repo digest if there is one, else the id. */
    public String portableName() {
      return repoDigests.isEmpty() ? id : repoDigests.get(0);
    }
  }
}
