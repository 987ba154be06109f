package dev.stasis.agent.daemon.kubelet;

import java.util.List;

/** Finds the containers of pods. */
public interface PodContainers {

  /**
   * The running container of that name in that very pod.
   *
   * @param podUid the pod's uid: another pod of its name is not meant
   * @param container name of the container in the pod
   * @throws NodeApiException when the runtime does not answer
   */
  Located locate(String podUid, String container) throws NodeApiException;

  /**
   * All containers of a pod, the newest attempt of each name, init containers included; empty when
   * the runtime knows no such pod.
   *
   * @throws NodeApiException when the runtime does not answer
   */
  List<PodContainer> ofPod(String podUid) throws NodeApiException;

  /** What was found. */
  sealed interface Located {

    /**
     * It runs.
     *
     * @param container the container
     * @param process its process, and what the runtime was told to run
     */
    record Running(PodContainer container, ContainerProcess process) implements Located {}

    /**
     * It does not.
     *
     * @param why one sentence: what was wanted and what was found
     */
    record NotRunning(String why) implements Located {}
  }
}
