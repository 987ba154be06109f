package dev.stasis.local.kubelet;

import dev.stasis.local.runc.RunningContainer;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs one pod in a separate thread: after every change it compares the desired with the actual
 * state, and takes one step.
 */
final class PodWorker implements Runnable {

  private static final System.Logger LOG = System.getLogger(PodWorker.class.getPackageName());

  /** Every change wakes it; this interval only limits the effect of a bug. */
  private static final Duration LONGEST_REST = Duration.ofSeconds(30);

  /** An in-memory API server answers again immediately, unless the machine is paused. */
  private static final Duration AGAIN = Duration.ofSeconds(1);

  private static final Duration USUAL_GRACE = Duration.ofSeconds(30);

  private final PodTools tools;
  private final PodFolder folder;
  private final Sandbox sandbox;
  private final PodVolumes volumes;
  private final PodState state;
  private final Consumer<PodWorker> gone;
  private final BlockingQueue<Boolean> changes = new LinkedBlockingQueue<>();
  private volatile Pod pod;
  private volatile boolean evicted;

  PodWorker(Pod pod, PodFolder folder, PodTools tools, Consumer<PodWorker> gone) {
    this.pod = pod;
    this.tools = tools;
    this.folder = folder;
    this.gone = gone;
    this.sandbox = new Sandbox(folder.namespaces(), tools.host());
    this.volumes = new PodVolumes(folder, pod.getSpec(), tools.host());
    this.state = new PodState(pod, tools.clock().instant());
  }

  Pod pod() {
    return pod;
  }

  PodState state() {
    return state;
  }

  PodFolder folder() {
    return folder;
  }

  /** The API has a newer version of it. */
  void changed(Pod newer) {
    pod = newer;
    wake();
  }

  /** Ends the pod even if it is still in the API, because this kubelet is stopping. */
  void evict() {
    evicted = true;
    wake();
  }

  private void wake() {
    changes.add(true);
  }

  @Override
  public void run() {
    try {
      while (!evicted && pod.getMetadata().getDeletionTimestamp() == null) {
        Duration rest = goOn();
        if (changes.poll(rest.toMillis(), TimeUnit.MILLISECONDS) != null) {
          changes.clear();
        }
      }
      end();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "pod " + pod.getMetadata().getName() + " failed", e);
    } finally {
      gone.accept(this);
    }
  }

  /** Takes one step and writes the status; a refused request is retried. */
  private Duration goOn() {
    try {
      Duration rest = step();
      tools.api().writeStatus(pod, now -> tools.statuses().of(now, state));
      return rest;
    } catch (KubernetesClientException e) {
      LOG.log(Level.WARNING, "pod " + pod.getMetadata().getName() + ": status not written", e);
      return AGAIN;
    }
  }

  /** Takes all possible steps, and returns the time until the next call. */
  private Duration step() {
    if (state.isOver(pod)) {
      tools.gpus().takeBack(pod.getMetadata().getUid());
      return LONGEST_REST;
    }
    try {
      if (!state.prepared()) {
        Files.createDirectories(folder.namespaces());
        sandbox.make(new PodEnvironment(pod).hostname());
        volumes.make();
        state.nowPrepared();
      }
    } catch (IOException | UncheckedIOException | PodRefusal e) {
      state.fails(String.valueOf(e.getMessage()));
      return LONGEST_REST;
    }
    for (ContainerSlot slot : state.inits()) {
      if (!slot.succeeded()) {
        return slot.run().isPresent() || PodState.endedForGood(pod, slot)
            ? LONGEST_REST
            : start(slot, pod.getSpec().getInitContainers());
      }
    }
    Duration rest = LONGEST_REST;
    for (ContainerSlot slot : state.mains()) {
      Duration its = main(slot);
      rest = its.compareTo(rest) < 0 ? its : rest;
    }
    return rest;
  }

  private Duration main(ContainerSlot slot) {
    Optional<ContainerSlot.Run> run = slot.run();
    if (run.isEmpty()) {
      return PodState.endedForGood(pod, slot)
          ? LONGEST_REST
          : start(slot, pod.getSpec().getContainers());
    }
    Optional<String> unhealthy = run.get().probes().unhealthy();
    if (unhealthy.isPresent()) {
      LOG.log(Level.INFO, "container {0} is killed: {1}", slot.name(), unhealthy.get());
      tools.runc().signal(run.get().container().id(), "KILL");
      return LONGEST_REST;
    }
    resize(slot, run.get().container());
    return LONGEST_REST;
  }

  private void resize(ContainerSlot slot, RunningContainer container) {
    long wanted = ContainerLimits.of(spec(slot, pod.getSpec().getContainers())).memoryBytes();
    if (wanted != slot.memoryLimit() && wanted > 0) {
      try {
        tools.runc().limitMemory(container.id(), wanted);
        slot.memoryLimitIs(wanted);
      } catch (UncheckedIOException e) {
        // The kernel does not go below the usage; the status keeps the actual value.
        LOG.log(Level.WARNING, "memory limit of {0}: {1}", slot.name(), e.getMessage());
      }
    }
  }

  private Duration start(ContainerSlot slot, List<Container> specs) {
    Instant now = tools.clock().instant();
    if (slot.notBefore().isAfter(now)) {
      return Duration.between(now, slot.notBefore()).plusMillis(1);
    }
    Container spec = spec(slot, specs);
    try {
      Probes.check(spec);
      ContainerPlan plan = tools.planner().plan(pod, spec, volumes, sandbox);
      String id = plan.config().id();
      RunningContainer container =
          tools
              .runc()
              .start(
                  plan.config(),
                  folder.bundle(id),
                  plan.image().rootfs(),
                  folder.log(slot.name(), slot.attempts()));
      Probes probes = new Probes(spec, id, tools.runc(), tools.scheduler(), this::wake);
      slot.started(new ContainerSlot.Run(container, plan, probes, now));
      probes.start();
      container.exit().thenAccept(code -> ended(slot, container, code)).exceptionally(this::lost);
    } catch (PodRefusal e) {
      slot.refused(e.reason(), String.valueOf(e.getMessage()), now);
    } catch (IOException | UncheckedIOException e) {
      slot.refused("RunContainerError", String.valueOf(e.getMessage()), now);
    }
    return slot.run().isPresent() ? LONGEST_REST : Duration.between(now, slot.notBefore());
  }

  private void ended(ContainerSlot slot, RunningContainer container, int code) {
    slot.run().ifPresent(run -> run.probes().stop());
    tools.runc().remove(container.id(), container.bundle());
    slot.ended(code, tools.clock().instant());
    wake();
  }

  private Void lost(Throwable why) {
    LOG.log(
        Level.ERROR, "cannot handle the end of a container of " + pod.getMetadata().getName(), why);
    return null;
  }

  private static Container spec(ContainerSlot slot, List<Container> specs) {
    return specs.stream()
        .filter(it -> it.getName().equals(slot.name()))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no container " + slot.name()));
  }

  private void end() throws InterruptedException {
    List<ContainerSlot.Run> runs =
        state.all().stream().map(ContainerSlot::run).flatMap(Optional::stream).toList();
    runs.forEach(run -> run.probes().stop());
    Duration grace = evicted ? Duration.ZERO : grace();
    if (!grace.isZero()) {
      runs.forEach(run -> tools.runc().signal(run.container().id(), "TERM"));
      long until = System.nanoTime() + grace.toNanos();
      while (state.all().stream().anyMatch(slot -> slot.run().isPresent())) {
        long left = until - System.nanoTime();
        if (left <= 0 || evicted) {
          break;
        }
        // The end of each container wakes it.
        changes.poll(left, TimeUnit.NANOSECONDS);
      }
    }
    runs.forEach(run -> tools.runc().remove(run.container().id(), run.container().bundle()));
    volumes.remove();
    sandbox.remove();
    tools.cgroups().remove(pod.getMetadata().getUid());
    tools.gpus().takeBack(pod.getMetadata().getUid());
    tools.host().attempt("rm", "-rf", "--one-file-system", folder.folder().toString());
    letGo();
  }

  /** Retried until it succeeds or this kubelet stops, because no other component would do it. */
  private void letGo() throws InterruptedException {
    while (true) {
      try {
        tools.api().letGo(pod);
        return;
      } catch (KubernetesClientException e) {
        if (evicted) {
          throw e;
        }
        LOG.log(
            Level.WARNING,
            "pod " + pod.getMetadata().getName() + ": cannot remove the finalizer yet",
            e);
        changes.poll(AGAIN.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  private Duration grace() {
    Long asked = pod.getMetadata().getDeletionGracePeriodSeconds();
    if (asked == null) {
      asked = pod.getSpec().getTerminationGracePeriodSeconds();
    }
    return Duration.ofSeconds(Objects.requireNonNullElse(asked, USUAL_GRACE.toSeconds()));
  }
}
