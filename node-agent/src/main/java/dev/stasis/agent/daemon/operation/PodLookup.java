package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.ContainerProcess;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.operation.OperationPod;
import io.fabric8.kubernetes.api.model.Pod;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Finds exactly the pod, the container and the GPUs of an operation. */
final class PodLookup {

  private static final System.Logger LOG = System.getLogger(PodLookup.class.getName());

  /** A request takes milliseconds; a longer one is not worth the freeze time. */
  private static final Duration FROZEN = Duration.ofSeconds(2);

  private final AgentParts parts;

  PodLookup(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * The subject of an operation.
   *
   * @param pod the pod in the API server
   * @param container the container in the runtime
   * @param process its first process
   * @param gpus the GPUs that the kubelet allocated to it
   */
  record Place(Pod pod, PodContainer container, ContainerProcess process, List<GpuUuid> gpus) {}

  /** Returns the pod on this node with that uid. */
  Pod pod(OperationPod wanted) throws Refused, ApiUnreachable {
    Optional<Pod> found = parts.cluster().pod(wanted.namespace(), wanted.name());
    if (found.isEmpty()) {
      throw new Refused("PodNotFound", "pod", wanted.namespace() + "/" + wanted.name(), "none");
    }
    Pod pod = found.get();
    if (!wanted.uid().equals(pod.getMetadata().getUid())) {
      throw new Refused("PodChanged", "pod.uid", wanted.uid(), pod.getMetadata().getUid());
    }
    if (!parts.nodeName().equals(pod.getSpec().getNodeName())) {
      throw new Refused(
          "PodChanged",
          "pod.spec.nodeName",
          parts.nodeName(),
          String.valueOf(pod.getSpec().getNodeName()));
    }
    return pod;
  }

  /** Returns the running container, with its GPUs. */
  Place place(OperationPod wanted) throws Refused, ApiUnreachable, NodeApiException {
    Pod pod = pod(wanted);
    PodContainers.Located located = parts.containers().locate(wanted.uid(), wanted.containerName());
    if (located instanceof PodContainers.Located.NotRunning not) {
      throw new Refused(
          "PodNotRunning", "container " + wanted.containerName(), "running", not.why());
    }
    PodContainers.Located.Running running = (PodContainers.Located.Running) located;
    return new Place(
        pod,
        running.container(),
        running.process(),
        parts.gpus().of(wanted.namespace(), wanted.name(), wanted.containerName()));
  }

  /**
   * Returns whether a pod is being deleted, is gone, or another one has its name. If the workload
   * ended before that, the kubelet would start it again, cold, so only the API server's answer
   * counts.
   */
  boolean isDeleted(OperationPod wanted) throws ApiUnreachable {
    Optional<Pod> found = parts.cluster().pod(wanted.namespace(), wanted.name());
    return found.isEmpty()
        || !wanted.uid().equals(found.get().getMetadata().getUid())
        || found.get().getMetadata().getDeletionTimestamp() != null;
  }

  /**
   * Returns why a checkpoint at this moment would end as soon as it is restored: the kubelet has
   * told the workload to end. The workload is frozen meanwhile, so an unavailable API server is not
   * waited for: it cannot inform the kubelet either.
   */
  Optional<String> toldToEnd(OperationPod wanted, Executor executor) throws InterruptedException {
    CompletableFuture<Boolean> deleted =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return isDeleted(wanted);
              } catch (ApiUnreachable e) {
                throw new CompletionException(e);
              }
            },
            executor);
    try {
      return deleted.get(FROZEN.toMillis(), TimeUnit.MILLISECONDS)
          ? Optional.of(
              "pod.metadata.deletionTimestamp: expected none before the workload is saved, got"
                  + " one, or no pod: the workload was told to end in the meantime")
          : Optional.empty();
    } catch (ExecutionException | TimeoutException e) {
      LOG.log(Level.WARNING, "whether pod {0} is deleted: {1}", wanted.name(), e);
      return Optional.empty();
    }
  }

  /**
   * Returns the GPUs that an operation needs exclusively: those of its container, and those that a
   * frozen one will use again; none if its workload runs and only its artifact is not published.
   * Empty if the kubelet did not answer and nothing else is known about them.
   */
  Optional<Set<GpuUuid>> gpus(ActiveOperation operation) {
    OperationPod pod = operation.spec().getPod();
    Set<GpuUuid> all = new HashSet<>();
    if (pod == null) {
      return Optional.of(all);
    }
    if (parts.work(operation.uid()).filter(PodLookup::onlyPublishes).isPresent()) {
      return Optional.of(all);
    }
    boolean answered = true;
    try {
      all.addAll(parts.gpus().of(pod.namespace(), pod.name(), pod.containerName()));
    } catch (NodeApiException e) {
      answered = false;
      LOG.log(Level.WARNING, "GPUs of {0}: {1}", operation.name(), e.getMessage());
    }
    String container = operation.status().getContainerId();
    for (Work work : parts.engine().thaw().inHand()) {
      if (work.containerId().equals(container) || work.id().equals(operation.uid())) {
        work.cuda().forEach(process -> all.addAll(process.deviceBytes().keySet()));
      }
    }
    return answered || !all.isEmpty() ? Optional.of(all) : Optional.empty();
  }

  private static boolean onlyPublishes(Work work) {
    return work.kind() == Work.Kind.FREEZE && work.phase() == Work.Phase.PUBLISHING;
  }
}
