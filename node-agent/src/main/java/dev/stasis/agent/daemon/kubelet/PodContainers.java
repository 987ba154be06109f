package dev.stasis.agent.daemon.kubelet;

import java.util.List;

/** Finds the containers of pods. */
public interface PodContainers {

  /**
   * Returns the running container of that name in exactly that pod.
   *
   * @param podUid the pod's uid, which excludes another pod with the same name
   * @param container name of the container in the pod
   * @throws NodeApiException if the runtime does not answer
   */
  Located locate(String podUid, String container) throws NodeApiException;

  /**
   * Returns all containers of a pod, including init containers: the newest attempt of each name.
   * Empty if the runtime does not know the pod.
   *
   * @throws NodeApiException if the runtime does not answer
   */
  List<PodContainer> ofPod(String podUid) throws NodeApiException;

  /** The result. */
  sealed interface Located {

    /**
     * The container runs.
     *
     * @param container the container
     * @param process its process, and the process section of its runtime spec
     */
    record Running(PodContainer container, ContainerProcess process) implements Located {}

    /**
     * The container does not run.
     *
     * @param why one sentence: expected and actual state
     */
    record NotRunning(String why) implements Located {}
  }
}
