package dev.stasis.local.kubelet;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.ContainerExec;
import dev.stasis.agent.daemon.kubelet.ContainerProcess;
import dev.stasis.agent.daemon.kubelet.NodeApi;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.daemon.kubelet.PodGpus;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.local.gate.PodLogs;
import dev.stasis.local.gpu.GpuAllocations;
import dev.stasis.local.gpu.GpuSupply;
import dev.stasis.local.host.HostProgram;
import dev.stasis.local.runc.ContainerConfig;
import dev.stasis.local.runc.Runc;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Replaces a container runtime and a kubelet for the agent. */
public final class LocalRuntime implements PodContainers, PodGpus, ContainerExec {

  /** The part of a command's output that the agent uses. */
  private static final int OUTPUT = 4096;

  /** More than the kernel assigns. */
  private static final long NO_PROCESS = 1L << 22;

  private final Supplier<List<PodWorker>> workers;
  private final Runc runc;
  private final GpuAllocations gpus;
  private final ProcFs proc = new ProcFs();

  LocalRuntime(Supplier<List<PodWorker>> workers, Runc runc, GpuAllocations gpus) {
    this.workers = workers;
    this.runc = runc;
    this.gpus = gpus;
  }

  /** Returns it as the agent's connections; the creator closes the kubelet. */
  public NodeApi connections() {
    return new NodeApi(this, this, this, () -> {});
  }

  @Override
  public String version() {
    return "runc " + runc.version();
  }

  @Override
  public Optional<PodContainer> byId(String containerId) {
    return workers.get().stream()
        .flatMap(
            worker ->
                worker.state().all().stream()
                    .filter(slot -> slot.plan().isPresent() && containerId.equals(id(slot)))
                    .map(slot -> container(worker, slot, slot.plan().get(), containerId)))
        .findFirst();
  }

  @Override
  public Located locate(String podUid, String container) {
    for (PodWorker worker : ofUid(podUid)) {
      for (ContainerSlot slot : worker.state().mains()) {
        if (slot.name().equals(container)) {
          return located(worker, slot);
        }
      }
    }
    return new Located.NotRunning(
        "container %s of pod %s: expected on this node, got none".formatted(container, podUid));
  }

  private Located located(PodWorker worker, ContainerSlot slot) {
    Optional<ContainerSlot.Run> run = slot.run();
    Optional<ProcessId> process = run.flatMap(it -> proc.id(it.container().pid()));
    if (run.isEmpty() || process.isEmpty()) {
      return new Located.NotRunning(
          "container " + slot.name() + ": expected running, got " + state(slot));
    }
    ContainerConfig.User started = run.get().plan().config().process();
    return new Located.Running(
        container(worker, slot, run.get().plan(), run.get().container().id()),
        new ContainerProcess(process.get(), started.argv(), started.env()));
  }

  private static @Nullable String id(ContainerSlot slot) {
    return slot.run()
        .map(run -> run.container().id())
        .or(() -> slot.last().map(ContainerSlot.Ended::id))
        .orElse(null);
  }

  private List<PodWorker> ofUid(String podUid) {
    return workers.get().stream()
        .filter(worker -> worker.pod().getMetadata().getUid().equals(podUid))
        .toList();
  }

  private static PodContainer container(
      PodWorker worker, ContainerSlot slot, ContainerPlan plan, String id) {
    ObjectMeta pod = worker.pod().getMetadata();
    return new PodContainer(
        pod.getNamespace(),
        pod.getName(),
        pod.getUid(),
        slot.name(),
        id,
        new PodContainer.Image(plan.image().name(), plan.image().id(), List.of()),
        plan.volumes());
  }

  private static String state(ContainerSlot slot) {
    if (slot.run().isPresent()) {
      return "RUNNING";
    }
    return slot.last().isPresent() ? "EXITED" : "UNKNOWN";
  }

  @Override
  public List<GpuUuid> of(String namespace, String pod, String container) {
    return workers.get().stream()
        .map(worker -> worker.pod().getMetadata())
        .filter(meta -> meta.getNamespace().equals(namespace) && meta.getName().equals(pod))
        .flatMap(meta -> gpus.of(new GpuAllocations.Holder(meta.getUid(), container)).stream())
        .map(GpuSupply.Device::uuid)
        .toList();
  }

  /**
   * Returns the output of a container's newest attempt, and its process; "" is the pod's first
   * container.
   */
  public Optional<PodLogs.Log> log(String namespace, String pod, String container) {
    for (PodWorker worker : workers.get()) {
      ObjectMeta meta = worker.pod().getMetadata();
      if (!meta.getNamespace().equals(namespace) || !meta.getName().equals(pod)) {
        continue;
      }
      for (ContainerSlot slot : worker.state().mains()) {
        if ((container.isEmpty() || container.equals(slot.name())) && slot.attempts() > 0) {
          long pid = slot.run().map(run -> (long) run.container().pid()).orElse(NO_PROCESS);
          return Optional.of(
              new PodLogs.Log(worker.folder().log(slot.name(), slot.attempts() - 1), pid));
        }
      }
    }
    return Optional.empty();
  }

  @Override
  public Result run(String containerId, List<String> command, Duration deadline) {
    HostProgram.Result result = runc.exec(containerId, command, deadline);
    if (result instanceof HostProgram.Result.Ended ended) {
      String output = ended.output();
      String end = output.substring(Math.max(0, output.length() - OUTPUT));
      return new Result.Exited(ended.code(), end);
    }
    return new Result.TimedOut(deadline);
  }
}
