package dev.stasis.operator.testing;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.ResourceNotFoundException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Nodes without machines: pods that the scheduler puts there seem to run, and end when deleted. */
public final class FakeKubelet implements AutoCloseable {

  /** A node is not ready after 40 s without a word. */
  private static final long WORD_SECONDS = 10;

  private final KubernetesClient client;
  private final Set<String> nodes = ConcurrentHashMap.newKeySet();
  private final Set<String> stuck = ConcurrentHashMap.newKeySet();
  private final ExecutorService work = Executors.newSingleThreadExecutor();
  private final ScheduledExecutorService words = Executors.newSingleThreadScheduledExecutor();
  private final SharedIndexInformer<Pod> pods;

  public FakeKubelet(KubernetesClient client) {
    this.client = client;
    this.pods = client.pods().inAnyNamespace().inform(handler());
    var unused =
        words.scheduleWithFixedDelay(
            () -> {
              nodes.forEach(this::ready);
              // What the API server refused a moment ago is tried again.
              lookAtAll();
            },
            0,
            WORD_SECONDS,
            TimeUnit.SECONDS);
  }

  /** A node with so many GPUs. */
  public Node node(String name, int gpus) {
    Quantity count = new Quantity(String.valueOf(gpus));
    Node node =
        new NodeBuilder()
            .withNewMetadata()
            .withName(name)
            .addToLabels("kubernetes.io/hostname", name)
            .endMetadata()
            .withNewStatus()
            .addToCapacity("nvidia.com/gpu", count)
            .addToCapacity("cpu", new Quantity("64"))
            .addToCapacity("memory", new Quantity("256Gi"))
            .addToCapacity("pods", new Quantity("110"))
            .addToAllocatable("nvidia.com/gpu", count)
            .addToAllocatable("cpu", new Quantity("64"))
            .addToAllocatable("memory", new Quantity("256Gi"))
            .addToAllocatable("pods", new Quantity("110"))
            .endStatus()
            .build();
    client.nodes().resource(node).create();
    nodes.add(name);
    ready(name);
    return client.nodes().withName(name).get();
  }

  /** Pods on that node come no further than their scheduling. */
  public void stick(String node) {
    stuck.add(node);
  }

  /** They go on. */
  public void unstick(String node) {
    stuck.remove(node);
    lookAtAll();
  }

  private void lookAtAll() {
    pods.getStore().list().forEach(pod -> work.execute(() -> look(pod)));
  }

  /** The container has ended, and was started again where its restartPolicy says so. */
  public void restart(Pod pod, int exitCode, int restarts) {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    ContainerStatus status =
        new ContainerStatusBuilder(pod.getStatus().getContainerStatuses().get(0))
            .withRestartCount(restarts)
            .withNewLastState()
            .withNewTerminated()
            .withExitCode(exitCode)
            .withReason("Error")
            .withStartedAt(now)
            .withFinishedAt(now)
            .endTerminated()
            .endLastState()
            .build();
    RealCluster.beside(
        () ->
            client
                .pods()
                .inNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getMetadata().getName())
                .editStatus(
                    it ->
                        new PodBuilder(it)
                            .editStatus()
                            .withContainerStatuses(status)
                            .endStatus()
                            .build()));
  }

  private void ready(String name) {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    try {
      client
          .nodes()
          .withName(name)
          .editStatus(
              node ->
                  new NodeBuilder(node)
                      .editStatus()
                      .removeMatchingFromConditions(it -> "Ready".equals(it.getType()))
                      .addNewCondition()
                      .withType("Ready")
                      .withStatus("True")
                      .withReason("Fake")
                      .withLastHeartbeatTime(now)
                      .withLastTransitionTime(now)
                      .endCondition()
                      .endStatus()
                      .build());
    } catch (KubernetesClientException | ResourceNotFoundException | NullPointerException e) {
      // Gone, or the API server is busy: said again with the next word.
    }
  }

  private ResourceEventHandler<Pod> handler() {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(Pod pod) {
        work.execute(() -> look(pod));
      }

      @Override
      public void onUpdate(Pod before, Pod pod) {
        work.execute(() -> look(pod));
      }

      @Override
      public void onDelete(Pod pod, boolean unknown) {}
    };
  }

  private void look(Pod pod) {
    String node = pod.getSpec().getNodeName();
    if (node == null || !nodes.contains(node)) {
      return;
    }
    var handle =
        client
            .pods()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getMetadata().getName());
    try {
      if (pod.getMetadata().getDeletionTimestamp() != null) {
        end(pod);
      } else if (pod.getStatus().getContainerStatuses().isEmpty() && !stuck.contains(node)) {
        handle.editStatus(now -> isSame(pod, now) ? running(now) : now);
      } else if (!stuck.contains(node) && resized(pod)) {
        handle.editStatus(now -> isSame(pod, now) ? resize(now) : now);
      }
    } catch (KubernetesClientException | ResourceNotFoundException | NullPointerException e) {
      // Deleted meanwhile.
    }
  }

  /** What is looked at may be old, and another pod may have its name by now. */
  private static boolean isSame(Pod seen, Pod now) {
    return seen.getMetadata().getUid().equals(now.getMetadata().getUid());
  }

  /** This one, and no other of its name. */
  private void end(Pod pod) {
    DeleteOptions thisOne =
        new DeleteOptionsBuilder()
            .withApiVersion("v1")
            .withKind("DeleteOptions")
            .withGracePeriodSeconds(0L)
            .withNewPreconditions()
            .withUid(pod.getMetadata().getUid())
            .endPreconditions()
            .build();
    client.raw(
        "/api/v1/namespaces/%s/pods/%s"
            .formatted(pod.getMetadata().getNamespace(), pod.getMetadata().getName()),
        "DELETE",
        thisOne);
  }

  private static boolean resized(Pod pod) {
    return !Objects.equals(
        pod.getStatus().getContainerStatuses().get(0).getResources(),
        pod.getSpec().getContainers().get(0).getResources());
  }

  /** A resize in place is done as soon as it is asked for. */
  private Pod resize(Pod pod) {
    return new PodBuilder(pod)
        .editStatus()
        .editFirstContainerStatus()
        .withResources(pod.getSpec().getContainers().get(0).getResources())
        .endContainerStatus()
        .endStatus()
        .build();
  }

  /** As it is now: what the watch has told may be old, and it runs already. */
  private Pod running(Pod pod) {
    if (!pod.getStatus().getContainerStatuses().isEmpty()) {
      return pod;
    }
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    List<ContainerStatus> statuses =
        pod.getSpec().getContainers().stream()
            .map(
                container ->
                    new ContainerStatusBuilder()
                        .withName(container.getName())
                        .withImage(container.getImage())
                        .withImageID(container.getImage())
                        .withReady(false)
                        .withStarted(false)
                        .withRestartCount(0)
                        .withResources(container.getResources())
                        .withNewState()
                        .withNewRunning(now)
                        .endState()
                        .build())
            .toList();
    return new PodBuilder(pod)
        .editStatus()
        .withPhase("Running")
        .withStartTime(now)
        .withContainerStatuses(statuses)
        .endStatus()
        .build();
  }

  @Override
  public void close() {
    nodes.forEach(name -> client.nodes().withName(name).delete());
    nodes.clear();
    pods.close();
    words.shutdownNow();
    work.shutdownNow();
  }
}
