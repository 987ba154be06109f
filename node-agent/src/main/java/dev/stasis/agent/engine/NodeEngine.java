package dev.stasis.agent.engine;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.PageCache;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.criu.CriuBundle;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The engine of one node: checkpoint, restore, thaw, and the end of what was evicted. One a process
 * and state folder.
 */
public final class NodeEngine {

  private final NodeParts node;
  private final List<Step<Freeze, FrozenWork>> freezing;
  private final List<Step<Restoring, FrozenWork>> restoring;

  /**
   * Puts an engine together.
   *
   * @throws IOException when a folder or criu's bundle cannot be made
   */
  public NodeEngine(EngineSettings settings, DriverWorker worker, Clock clock) throws IOException {
    this(settings, worker, clock, System::nanoTime);
  }

  NodeEngine(EngineSettings settings, DriverWorker worker, Clock clock, LongSupplier nanoTime)
      throws IOException {
    Files.createDirectories(
        settings.stateDir(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    CriuBundle bundle = new CriuBundle(settings.bundleDir());
    // What was begun with a criu can be undone without one: a thaw makes no use of it.
    if (Files.exists(settings.criu())) {
      bundle.install(settings.criu());
    }
    ProcFs proc = new ProcFs();
    HostLocks locks = new HostLocks(settings.stateDir(), nanoTime);
    this.node =
        new NodeParts(
            proc,
            new PidFds(proc),
            new ContainerResolver(proc),
            new ProcessTree(proc),
            worker,
            new GuardedDriver(worker, new WorkerRecovery(worker, proc)),
            new GpuGate(locks, worker, nanoTime),
            locks,
            new WorkJournal(settings.stateDir()),
            new JournalReader(proc),
            new Mover(settings.runtime()),
            new Tools(settings.runtime(), bundle, settings.criuVersion()),
            new ThpSetting(
                Path.of("/sys/kernel/mm/transparent_hugepage/enabled"),
                settings.stateDir(),
                locks,
                proc),
            settings.stateDir(),
            settings.memoryStage(),
            new Parallel(),
            settings.threads(),
            settings.restoreWithoutAppArmor(),
            clock,
            nanoTime);
    this.freezing = Checkpoint.steps();
    this.restoring = Restore.steps();
  }

  /** With other steps, for those that test what follows the death of an agent in each. */
  NodeEngine(
      NodeParts node,
      List<Step<Freeze, FrozenWork>> freezing,
      List<Step<Restoring, FrozenWork>> restoring) {
    this.node = node;
    this.freezing = List.copyOf(freezing);
    this.restoring = List.copyOf(restoring);
  }

  NodeParts node() {
    return node;
  }

  /** Freezes and saves a workload. */
  public Checkpoint checkpoint() {
    return new Checkpoint(node, freezing);
  }

  /** Brings a workload back from an artifact. */
  public Restore restore() {
    return new Restore(node, restoring);
  }

  /** Lists what is frozen and brings it back, from the journal alone. */
  public Thaw thaw() {
    return new Thaw(node);
  }

  /** Ends an evicted workload on its caller's word. */
  public Evicted evicted() {
    return new Evicted(node);
  }

  /** Looks at what a workload does. */
  public Look look() {
    return new Look(node);
  }

  /**
   * Has the kernel let go of the files that it keeps on a container's account, which those of an
   * artifact are by now; comes back when it has tried.
   */
  public void dropPageCache(String container) {
    if (node.containers().resolve(container) instanceof Resolution.Found found) {
      new PageCache().drop(found.container());
    }
  }

  /** What a container on this node has, in the terms in which places are compared. */
  public PlaceFingerprint fingerprint() {
    return new PlaceFingerprint(node);
  }

  /** Knows which artifacts the work in hand lives from. */
  public ArtifactUse artifactUse() {
    return new ArtifactUse(node.journal(), node.journals(), node.proc().bootId());
  }

  /** Locks on this machine, of which a process has one instance only. */
  public HostLocks locks() {
    return node.locks();
  }

  /** The boot of this machine, as the kernel names it. */
  public String bootId() {
    return node.proc().bootId();
  }

  /** Puts machine-wide settings back that an agent which has died left changed. */
  public void settleAbandoned() throws InterruptedException {
    node.thp().putBackIfAbandoned();
  }
}
