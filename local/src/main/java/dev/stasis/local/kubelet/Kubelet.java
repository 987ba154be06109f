package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuAllocations;
import dev.stasis.local.host.HostProgram;
import dev.stasis.local.runc.Runc;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs the pods of its node as containers of this machine. */
public final class Kubelet implements AutoCloseable {

  /** Each pod is killed and removed; usually some seconds on a loaded machine. */
  private static final Duration CLOSING = Duration.ofSeconds(60);

  private final KubeletSettings settings;
  private final KubernetesClient client;
  private final PodTools tools;
  private final LocalNode node;
  private final ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(2);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, PodWorker> workers = new ConcurrentHashMap<>();
  private @Nullable SharedIndexInformer<Pod> informer;

  public Kubelet(KubeletSettings settings, KubernetesClient client, Clock clock) {
    this.settings = settings;
    this.client = client;
    HostProgram host = new HostProgram();
    PodCgroups cgroups = new PodCgroups(settings.cgroup(), host);
    GpuAllocations gpus = new GpuAllocations(settings.gpus());
    this.node = new LocalNode(settings, clock);
    this.tools =
        new PodTools(
            new Runc(settings.folder().resolve("runc"), host),
            host,
            new ContainerPlanner(settings.images(), gpus, cgroups),
            cgroups,
            gpus,
            new PodApi(client),
            new PodStatuses(clock),
            scheduler,
            clock);
  }

  /** Creates its Node and starts. */
  public void start() {
    client.resource(node.make()).createOr(existing -> existing.update());
    informer =
        client
            .pods()
            .inAnyNamespace()
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(Pod pod) {
                    seen(pod);
                  }

                  @Override
                  public void onUpdate(Pod before, Pod pod) {
                    seen(pod);
                  }

                  @Override
                  public void onDelete(Pod pod, boolean unknown) {
                    PodWorker worker = workers.get(pod.getMetadata().getUid());
                    if (worker != null) {
                      worker.evict();
                    }
                  }
                });
  }

  private void seen(Pod pod) {
    boolean deleted = pod.getMetadata().getDeletionTimestamp() != null;
    String node = pod.getSpec().getNodeName();
    if (deleted && (node == null || node.isEmpty())) {
      threads.execute(() -> tools.api().letGo(pod));
      return;
    }
    if (!settings.nodeName().equals(node)) {
      return;
    }
    String uid = pod.getMetadata().getUid();
    PodWorker known = workers.get(uid);
    if (known != null) {
      known.changed(pod);
    } else if (!deleted) {
      PodFolder folder = new PodFolder(settings.folder().resolve("pods").resolve(uid));
      PodWorker worker = new PodWorker(pod, folder, tools, it -> workers.remove(uid));
      workers.put(uid, worker);
      threads.execute(worker);
    } else {
      threads.execute(() -> tools.api().letGo(pod));
    }
  }

  /** Returns the API that the agent uses for container runtime and kubelet. */
  public LocalRuntime runtime() {
    return new LocalRuntime(this::workers, tools.runc(), tools.gpus());
  }

  private List<PodWorker> workers() {
    return List.copyOf(workers.values());
  }

  /** Kills every pod and removes everything created for them. */
  @Override
  public void close() {
    if (informer != null) {
      informer.close();
    }
    workers().forEach(PodWorker::evict);
    threads.shutdown();
    try {
      threads.awaitTermination(CLOSING.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    scheduler.shutdownNow();
    tools.cgroups().removeAll();
  }
}
