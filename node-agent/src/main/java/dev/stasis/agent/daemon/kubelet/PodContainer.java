package dev.stasis.agent.daemon.kubelet;

import java.util.List;

/**
 * A container of a pod, as the runtime knows it.
 *
 * @param namespace the pod's namespace
 * @param pod the pod's name
 * @param podUid the pod's uid
 * @param name its name in the pod
 * @param id the runtime's id, 64 hexadecimal digits
 * @param attempt how often it was started anew in this pod: 0 for the first time
 * @param state what the runtime says of it
 * @param image its image
 * @param mounts what the kubelet had mounted into it, in the runtime's order
 * @param logPath the file with its output, on the host; empty when there is none
 */
public record PodContainer(
    String namespace,
    String pod,
    String podUid,
    String name,
    String id,
    int attempt,
    State state,
    Image image,
    List<PodMount> mounts,
    String logPath) {

  public PodContainer {
    mounts = List.copyOf(mounts);
  }

  /** The runtime's states. */
  public enum State {
    CREATED,
    RUNNING,
    EXITED,
    UNKNOWN
  }

  /**
   * An image.
   *
   * @param name as the pod asks for it
   * @param id the runtime's id of what it runs: {@code sha256:...}
   * @param repoDigests {@code repo@sha256:...}; none for an image that came from no registry
   */
  public record Image(String name, String id, List<String> repoDigests) {
    public Image {
      repoDigests = List.copyOf(repoDigests);
    }

    /** How another node names the same image: a repo digest where there is one, else the id. */
    public String portableName() {
      return repoDigests.isEmpty() ? id : repoDigests.get(0);
    }
  }
}
