package dev.stasis.agent.engine;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.PageCache;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.criu.CriuBundle;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.direct.Keepers;
import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.mover.Mover;
import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The engine of one node: checkpoint, restore, thaw, and ending evicted workloads. One per process
 * and state folder.
 */
public final class NodeEngine {

  private final NodeParts node;
  private final List<Step<Freeze, FrozenWork>> freezing;
  private final List<Step<Restoring, FrozenWork>> restoring;

  /**
   * Creates an engine.
   *
   * @throws IOException if a folder or criu's bundle cannot be created
   */
  public NodeEngine(EngineSettings settings, DriverWorker worker, Clock clock) throws IOException {
    this(settings, worker, clock, System::nanoTime);
  }

  NodeEngine(EngineSettings settings, DriverWorker worker, Clock clock, LongSupplier nanoTime)
      throws IOException {
    ChildStart.prepare(settings.runtime());
    Files.createDirectories(
        settings.stateDir(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    CriuBundle bundle = new CriuBundle(settings.bundleDir());
    // An operation that began with a criu can be undone without one: a thaw does not use it.
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
            new Keepers(settings.keeper(), settings.runtime(), settings.stateDir(), proc),
            new Tools(settings.runtime(), bundle, settings.criuVersion()),
            new ThpSetting(
                Path.of("/sys/kernel/mm/transparent_hugepage/enabled"),
                settings.stateDir(),
                locks,
                proc),
            settings.stateDir(),
            settings.memoryStage(),
            new CopyRates(),
            new Parallel(),
            settings.threads(),
            settings.restoreWithoutAppArmor(),
            Mover.SILENCE,
            clock,
            nanoTime);
    this.freezing = Checkpoint.steps();
    this.restoring = Restore.steps();
  }

  /** With other steps, for tests of an agent that dies in each. */
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

  /** Restores a workload from an artifact. */
  public Restore restore() {
    return new Restore(node, restoring);
  }

  /**
   * Loads device memory of an artifact into a waiting container while it arrives in a folder; empty
   * if that is not possible, such as with several GPUs: the files do not name the GPU of a region.
   */
  public Optional<Prefetch> prefetch(String container, Path folder) throws InterruptedException {
    List<Gpu> seen = restore().target(container).seen();
    if (seen.size() != 1
        || !node.keepers().available()
        || !(node.containers().resolve(container) instanceof Resolution.Found found)
        // It ends the keeper, which may have the only copy of a suspended workload's memory.
        || node.journal().read(found.container().id()).isPresent()
        || !new TargetCheck(node).holder(found.container()).isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(Prefetch.begin(node, found.container(), seen.get(0), folder));
  }

  /** Lists frozen workloads and thaws them, from the journal alone. */
  public Thaw thaw() {
    return new Thaw(node);
  }

  /** Ends the keepers of containers that have ended, unless a recorded operation may need them. */
  public void endAbandonedKeepers() throws InterruptedException {
    new KeeperSweep(node).run();
  }

  /** Publishes artifacts that a predecessor had captured and not published. */
  public InterruptedPublication interruptedPublication() {
    return new InterruptedPublication(node);
  }

  /** Ends an evicted workload, when its caller reports that its pod is gone. */
  public Evicted evicted() {
    return new Evicted(node);
  }

  /** Reads from a store. */
  public interface StoreReading<T> {
    T read() throws IOException;
  }

  /**
   * Reads from a store while a workload may be frozen.
   *
   * @throws IOException also if the store does not respond; the reading is then left behind
   */
  public <T> T readStore(String what, StoreReading<T> reading)
      throws IOException, InterruptedException {
    try {
      return new StoreCalls(node.storeSilence()).call(what, pulse -> reading.read());
    } catch (StepFailure e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Inspects the current state of a workload. */
  public WorkloadInspector look() {
    return new WorkloadInspector(node);
  }

  /**
   * Asks the kernel to reclaim the page cache of a container, most of which now belongs to an
   * artifact; returns when it has tried.
   */
  public void dropPageCache(String container) {
    if (node.containers().resolve(container) instanceof Resolution.Found found) {
      new PageCache().drop(found.container());
    }
  }

  /** Returns the properties of a container on this node, for comparisons. */
  public PlaceFingerprint fingerprint() {
    return new PlaceFingerprint(node);
  }

  /** Returns how fast memory was copied lately. */
  public CopyRates rates() {
    return node.rates();
  }

  /** Returns which artifacts running operations need. */
  public ArtifactUse artifactUse() {
    return new ArtifactUse(node.journal(), node.journals(), node.proc().bootId());
  }

  /** Locks on this machine; one instance per process. */
  public HostLocks locks() {
    return node.locks();
  }

  /** The kernel's boot id of this machine. */
  public String bootId() {
    return node.proc().bootId();
  }

  /** Returns the time since a process was started. */
  public Optional<Duration> age(ProcessId process) {
    return node.proc().age(process);
  }

  /** Restores machine-wide settings that a dead agent left changed. */
  public void settleAbandoned() throws InterruptedException {
    node.thp().putBackIfAbandoned();
  }
}
