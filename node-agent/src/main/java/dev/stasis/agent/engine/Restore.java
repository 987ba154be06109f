package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.criu.MountMatch;
import dev.stasis.agent.criu.MountMatcher;
import dev.stasis.agent.criu.MountPair;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.process.Mount;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Obstacle;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.SourceMount;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Restores a workload from its artifact in a waiting container. Either every process is verified to
 * run with its device memory, or nothing of it runs.
 */
public final class Restore {

  private static final System.Logger LOG = System.getLogger(Restore.class.getName());

  private static final List<Step<Restoring, FrozenWork>> STEPS =
      List.of(
          new UnpackStep(),
          new CriuRestoreStep(),
          new FillStep(),
          new ContinueStep(),
          new GpuRestoreStep(),
          new UnlockStep(),
          new ReloadStep(),
          new ProveStep());

  /** No event reports that memory becomes free; an attempt reads a few small files. */
  private static final Duration RESERVE_EVERY = Duration.ofMillis(200);

  private final NodeParts node;
  private final List<Step<Restoring, FrozenWork>> forward;

  Restore(NodeParts node) {
    this(node, STEPS);
  }

  /** With other steps, for tests of a failure after each. */
  Restore(NodeParts node, List<Step<Restoring, FrozenWork>> forward) {
    this.node = node;
    this.forward = List.copyOf(forward);
  }

  /** The steps. */
  static List<Step<Restoring, FrozenWork>> steps() {
    return STEPS;
  }

  /** Returns the properties of a waiting container; changes nothing. */
  public TargetFound target(String container) {
    DriverAnswer<NodeGpus> answer = node.driver().gpus();
    if (answer instanceof DriverAnswer.Done<NodeGpus> done
        && node.containers().resolve(container) instanceof Resolution.Found found) {
      return new TargetFound(done.value(), seen(found.container(), done.value()));
    }
    return new TargetFound(
        NodeGpus.none(new DriverAvailability.NoDevice(answer.describe())), List.of());
  }

  private List<Gpu> seen(Container target, NodeGpus gpus) {
    DeviceAccess access = new DeviceAccess(node.tools().runtime());
    return new ContainerGpus(node.proc().root())
        .of(target.init().pid(), gpus.gpus(), device -> access.allows(target, device));
  }

  /** Runs a restore to its end. */
  public RestoreOutcome run(RestoreRequest request, OperationControl control, StepListener listener)
      throws InterruptedException {
    Resolution resolution = node.containers().again(request.target());
    if (!(resolution instanceof Resolution.Found found)) {
      return refused(
          "target container",
          "one that runs on this node",
          ((Resolution.Refused) resolution).why());
    }
    Container target = found.container();
    Optional<HostLocks.Held> lock = node.locks().tryTake(target.id());
    if (lock.isEmpty()) {
      return refused(
          "target container", "no recorded operation", "another operation is running on it");
    }
    try (HostLocks.Held held = lock.get()) {
      if (node.journal().read(target.id()).isPresent()) {
        return refused("target container", "no recorded operation", "an earlier operation");
      }
      return locked(request, target, control, listener);
    }
  }

  private static RestoreOutcome refused(String property, String wanted, String found) {
    return new RestoreOutcome.Refused(List.of(new FailedRequirement(property, wanted, found)));
  }

  private RestoreOutcome locked(
      RestoreRequest request, Container target, OperationControl control, StepListener listener)
      throws InterruptedException {
    StepRunner runner = new StepRunner(node.nanoTime(), listener);
    Opened opened = open(request, runner, listener);
    if (opened instanceof Opened.Refused damaged) {
      return new RestoreOutcome.Refused(
          List.of(
              new FailedRequirement(
                  damaged.property(), damaged.wanted(), damaged.found(), Scope.ARTIFACT)));
    }
    Artifact artifact = ((Opened.Verified) opened).artifact();
    String owner = artifact.manifest().origin().namespace();
    if (owner != null && !owner.equals(request.namespace())) {
      return refused("namespace of the artifact", String.valueOf(request.namespace()), owner);
    }
    DriverAnswer<NodeGpus> answer = node.driver().gpus();
    if (!(answer instanceof DriverAnswer.Done<NodeGpus> done)
        || !(done.value().availability() instanceof DriverAvailability.Present)) {
      return refused("GPU driver", "one that answers on this node", answer.describe());
    }
    new ProgramStart(node.proc(), node.nanoTime()).await(target.init().pid());
    List<Gpu> seen = seen(target, done.value());
    List<FailedRequirement> unmet = new ArrayList<>(notPortable(artifact, request));
    unmet.addAll(new TargetCheck(node).unmet(artifact, target, done.value(), seen));
    Path root = node.proc().folder(target.init().pid()).resolve("root");
    unmet.addAll(UnpackStep.unmet(artifact, target, root, request));
    MountMatch match = new MountMatcher().match(sourceMounts(artifact), target.mounts());
    if (match instanceof MountMatch.Refused misfit) {
      misfit
          .reasons()
          .forEach(
              reason ->
                  unmet.add(
                      new FailedRequirement(reason.property(), reason.wanted(), reason.found())));
    } else {
      List<MountPair> pairs = ((MountMatch.Matched) match).pairs();
      unmet.addAll(new RightsCheck(node).images(artifact.criu(), target, pairs));
    }
    if (!unmet.isEmpty()) {
      return new RestoreOutcome.Refused(unmet);
    }
    try {
      long deviceBytes = TargetCheck.inHostMemory(artifact.manifest());
      Optional<String> missing = reserve(request, target, deviceBytes, control);
      if (missing.isPresent()) {
        return refused(Inspected.RoomFound.PROPERTY, "enough of it", missing.get());
      }
      Restoring restoring =
          new Restoring(
              node,
              begin(request, target),
              listener,
              request,
              artifact,
              target,
              seen,
              ((MountMatch.Matched) match).pairs());
      return run(restoring, runner, control);
    } catch (StepFailure failure) {
      return new RestoreOutcome.Failed(
          runner.lastStep(),
          failure.reason(),
          String.valueOf(failure.getMessage()),
          true,
          runner.timings());
    } finally {
      node.ledger().giveBack(target.id());
    }
  }

  /**
   * Reserves host memory for the device memory. Another operation may have taken a part of its own
   * reservation, which then counts twice, so the restore waits before it is refused.
   *
   * @return what is missing after the wait; empty if the memory is reserved
   */
  private Optional<String> reserve(
      RestoreRequest request, Container target, long deviceBytes, OperationControl control)
      throws StepFailure, InterruptedException {
    long until = node.nanoTime().getAsLong() + request.options().memoryWait().toNanos();
    while (true) {
      try (HostLocks.Held held = node.ledger().open()) {
        Optional<String> missing = node.room().missing(target, deviceBytes, 0);
        if (missing.isEmpty()) {
          node.ledger().promise(target.id(), Room.needed(deviceBytes), 0);
        }
        if (missing.isEmpty() || node.nanoTime().getAsLong() >= until) {
          return missing;
        }
      }
      control.check("unpack");
      LockSupport.parkNanos(RESERVE_EVERY.toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for host memory");
      }
    }
  }

  /** What was known at the checkpoint to prevent a restore in another container. */
  private static List<FailedRequirement> notPortable(Artifact artifact, RestoreRequest request) {
    boolean addressStays = request.options().tcp() == CheckpointRequest.Tcp.KEEP;
    return Objects.requireNonNullElse(artifact.manifest().notPortable(), List.<Obstacle>of())
        .stream()
        .filter(
            one -> !addressStays || !one.property().equals(Requirement.SOCKET_ADDRESS.property()))
        .map(
            one ->
                new FailedRequirement(one.property(), one.expected(), one.actual(), Scope.NEW_POD))
        .toList();
  }

  /**
   * Checks what criu and the unpacking read before the target is touched. The memory of the regions
   * is checked by the program that copies it, before the workload runs: it is read only once.
   */
  private Opened open(RestoreRequest request, StepRunner runner, StepListener listener) {
    long begin = node.nanoTime().getAsLong();
    listener.progress("verify", 0, 0);
    try {
      return new ArtifactReader(
              request.options().threads(),
              (bytes, total) -> listener.progress("verify", bytes, total))
          .openExceptRegions(request.artifact(), request.digest());
    } catch (IOException e) {
      return new Opened.Refused(
          Opened.Kind.DAMAGED, "artifact", "one that can be read", String.valueOf(e.getMessage()));
    } finally {
      runner.timings().add("verify", Duration.ofNanos(node.nanoTime().getAsLong() - begin));
    }
  }

  private RestoreOutcome run(Restoring restoring, StepRunner runner, OperationControl control)
      throws InterruptedException {
    node.journal().write(restoring.work());
    try {
      if (!restoring.artifact().manifest().deviceSets().isEmpty()) {
        restoring.giveWay();
        restoring.startKeeper();
      }
      runner.forward(forward, restoring, control);
      node.journal().remove(restoring.work().containerId());
      long bytes = restoring.work().cuda().stream().mapToLong(CudaProcess::totalBytes).sum();
      int init = restoring.byOwnPid().values().stream().findFirst().map(id -> id.pid()).orElse(0);
      return new RestoreOutcome.Proven(init, restoring.proof(), bytes, runner.timings());
    } catch (StepFailure failure) {
      return ended(restoring, runner, failure);
    } catch (InterruptedException stopped) {
      return ended(
          restoring, runner, new StepFailure(Reason.CANCELLED, "the agent is stopping", stopped));
    }
  }

  private RestoreOutcome ended(Restoring restoring, StepRunner runner, StepFailure failure)
      throws InterruptedException {
    String message = String.valueOf(failure.getMessage());
    boolean ended = true;
    restoring.listener().undoing(message);
    StepRunner.clearInterrupt();
    try {
      restoring.note(work -> work.withPhase(Work.Phase.WORKING));
      new Children(restoring).end();
      runner.back(forward, restoring);
      endKeeper(restoring);
      node.journal().remove(restoring.work().containerId());
    } catch (StepFailure stuck) {
      LOG.log(System.Logger.Level.ERROR, "Cannot end the processes of a failed restore", stuck);
      message += "; the restored processes could not be ended: " + stuck.getMessage();
      ended = false;
    }
    return new RestoreOutcome.Failed(
        runner.lastStep(), failure.reason(), message, ended, runner.timings());
  }

  private void endKeeper(Restoring restoring) throws InterruptedException {
    restoring.cancelKeeper();
    node.keepers().end(restoring.work().containerId());
  }

  private Work begin(RestoreRequest request, Container target) {
    return new Work(
        node.proc().bootId(),
        request.id(),
        request.owner(),
        Work.Kind.RESTORE,
        After.RESUME,
        false,
        Work.Phase.WORKING,
        node.clock().instant(),
        target.id(),
        target.init(),
        null,
        request.artifact().toString());
  }

  private static List<Mount> sourceMounts(Artifact artifact) {
    return artifact.manifest().mounts().stream().map(Restore::mount).toList();
  }

  private static Mount mount(SourceMount mount) {
    String[] device = mount.device().split(":");
    return new Mount(
        mount.id(),
        mount.parent(),
        Integer.parseInt(device[0]),
        Integer.parseInt(device[1]),
        mount.root(),
        mount.target(),
        Arrays.asList(mount.options().split(",")),
        List.of(),
        mount.type(),
        mount.source(),
        Arrays.asList(mount.superOptions().split(",")));
  }
}
