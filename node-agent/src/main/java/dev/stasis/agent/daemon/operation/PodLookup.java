package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.ContainerProcess;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.daemon.kubelet.PodGpus;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Finds the pod and the container of an operation, and no other than those that are meant. */
final class PodLookup {

  private final AgentParts parts;

  PodLookup(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * Where an operation works.
   *
   * @param pod as the API server has it
   * @param container as the runtime has it
   * @param process its first process
   * @param gpus what the kubelet gave to it
   */
  record Place(
      Pod pod, PodContainer container, ContainerProcess process, PodGpus.Allocation gpus) {}

  /** The pod itself, on this node and with that uid. */
  Pod pod(OperationPod wanted) throws Refused, ApiUnreachable {
    Optional<Pod> found = parts.pods().find(wanted.namespace(), wanted.name());
    if (found.isEmpty()) {
      throw new Refused(
          Faults.of("PodNotFound", "pod", wanted.namespace() + "/" + wanted.name(), "none"));
    }
    Pod pod = found.get();
    if (!wanted.uid().equals(pod.getMetadata().getUid())) {
      throw new Refused(
          Faults.of("PodChanged", "pod.uid", wanted.uid(), pod.getMetadata().getUid()));
    }
    if (!parts.nodeName().equals(pod.getSpec().getNodeName())) {
      throw new Refused(
          Faults.of(
              "PodChanged",
              "pod.spec.nodeName",
              parts.nodeName(),
              String.valueOf(pod.getSpec().getNodeName())));
    }
    return pod;
  }

  /** The container, running, with its GPUs. */
  Place place(OperationPod wanted) throws Refused, ApiUnreachable, NodeApiException {
    Pod pod = pod(wanted);
    PodContainers.Located located = parts.containers().locate(wanted.uid(), wanted.containerName());
    if (located instanceof PodContainers.Located.NotRunning not) {
      throw new Refused(
          Faults.of("PodNotRunning", "container " + wanted.containerName(), "running", not.why()));
    }
    PodContainers.Located.Running running = (PodContainers.Located.Running) located;
    return new Place(
        pod,
        running.container(),
        running.process(),
        parts.gpus().of(wanted.namespace(), wanted.name(), wanted.containerName()));
  }
}
