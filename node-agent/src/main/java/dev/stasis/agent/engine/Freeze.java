package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.layer.LayerPacker;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.InterfaceAddress;
import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The state shared by the steps of one checkpoint. */
final class Freeze extends FrozenWork {

  private final CheckpointRequest request;
  private final Container container;
  private final @Nullable ArtifactStage artifact;
  private final ChosenStage stage;
  private final Inspected inspected;
  private final StoreCalls storeCalls;
  private final LayerPacker layerPacker;
  private final StageListener stages;
  private final List<InterfaceAddress> addresses;
  private @Nullable ManifestDraft draft;
  private ManifestDraft.@Nullable Facts facts;
  private List<FailedRequirement> notPortable = List.of();
  private Map<String, String> watched = Map.of();
  private final RegionPlanner planner = new RegionPlanner(this);
  private final List<Beside> copies = new ArrayList<>();
  private final Offloading offloading;
  private final List<RegionPlan> plans = new ArrayList<>();

  Freeze(
      NodeParts node,
      Work work,
      StepListener listener,
      CheckpointRequest request,
      Container container,
      @Nullable ArtifactStage artifact,
      ChosenStage stage,
      Inspected inspected,
      StageListener stages,
      StoreCalls storeCalls)
      throws IOException {
    super(node, work, listener);
    this.storeCalls = storeCalls;
    this.stages = stages;
    this.inspected = inspected;
    this.offloading = new Offloading(artifact, stage, stages, inspected);
    this.request = request;
    this.container = container;
    this.artifact = artifact;
    this.stage = stage;
    this.addresses = inspected.addresses();
    // Created before the freeze, because it loads native code.
    this.layerPacker = new LayerPacker(container.mounts().stream().map(Mount::mountPoint).toList());
  }

  CheckpointRequest request() {
    return request;
  }

  /** The container before it was touched. */
  Container source() {
    return container;
  }

  /** The artifact being written; steps that need one run only if it exists. */
  ArtifactStage artifact() {
    if (artifact == null) {
      throw new IllegalStateException("a suspend in memory has no artifact");
    }
    return artifact;
  }

  /** Receives the files of the artifact that are final. */
  StageListener stages() {
    return stages;
  }

  /** The calls that use files of the store while the workload is frozen. */
  StoreCalls storeCalls() {
    return storeCalls;
  }

  LayerPacker layerPacker() {
    return layerPacker;
  }

  ChosenStage stage() {
    return stage;
  }

  /** How device memory is saved. */
  DataPath dataPath() {
    return offloading.path();
  }

  Offloading offloading() {
    return offloading;
  }

  /** The CUDA processes with all of their device memory, including offloaded memory. */
  List<CudaProcess> cudaInFull() {
    Map<ProcessId, Offloaded> offloaded = new HashMap<>();
    work().offloaded().forEach(one -> offloaded.put(one.process(), one));
    return work().cuda().stream()
        .map(
            one -> {
              Offloaded away = offloaded.get(one.process());
              return away == null
                  ? one
                  : new CudaProcess(one.process(), one.restoreThread(), away.deviceBytes());
            })
        .toList();
  }

  /** The regions that the mover copies. */
  List<RegionPlan> plans() {
    return plans;
  }

  /** Starts a copy that the process does not notice; the next steps run in parallel. */
  void copyBeside(Beside.Action action) {
    copies.add(Beside.start("copy of " + container.id(), action));
  }

  void awaitCopies() throws StepFailure, InterruptedException {
    for (Beside copy : copies) {
      copy.await();
    }
  }

  /** Ends the copies, before anything is undone. One that waits for a disk is left behind. */
  void endCopies() throws InterruptedException {
    for (Beside copy : copies) {
      copy.cancel().ifPresent(thread -> storeCalls.leave(thread::join));
    }
  }

  /** Returns the data path, and why. */
  String pathTaken() {
    List<String> leftToCriu = planner.leftToCriu();
    if (dataPath() instanceof DataPath.Direct) {
      if (!offloading.saved().isEmpty()) {
        return "direct; written while the workload was frozen";
      }
      return offloading.inHostMemory()
          ? "direct; copied into host memory while the workload was frozen"
          : "direct";
    }
    String notDirect =
        dataPath() instanceof DataPath.Driver driver && driver.whyNotDirect() != null
            ? "; not direct: " + driver.whyNotDirect()
            : "";
    if (plans.isEmpty()) {
      return "criu: " + String.join("; ", leftToCriu) + notDirect;
    }
    String mover =
        stage.lowMemory() == null ? "mover" : "mover, low memory (" + stage.lowMemory() + ")";
    return leftToCriu.isEmpty()
        ? mover + notDirect
        : mover + "; criu for some regions: " + String.join("; ", leftToCriu) + notDirect;
  }

  /** Lists the container again. Until it is stopped, the processes of the inspection are known. */
  ProcessTree.Listing listAgain() {
    List<ProcessId> stopped = work().tree();
    return node().tree().listAgain(container, stopped.isEmpty() ? inspected.tree() : stopped);
  }

  /** CUDA processes that are not recorded in the journal yet. */
  List<CudaProcess> unknownCudaProcesses() throws StepFailure {
    Set<ProcessId> known = new HashSet<>();
    work().cuda().forEach(one -> known.add(one.process()));
    List<CudaProcess> found = new ArrayList<>();
    CudaUse use = CudaUse.of(node());
    for (ProcessId process : listAgain().living()) {
      if (!known.contains(process)) {
        OptionalInt thread = use.restoreThread(process);
        if (thread.isPresent()) {
          found.add(new CudaProcess(process, thread.getAsInt(), deviceBytes(process)));
        }
      }
    }
    return found;
  }

  /** Device memory of a process, according to NVML. */
  Map<GpuUuid, Long> deviceBytes(ProcessId process) throws StepFailure {
    return node().calls().memoryOf(process);
  }

  /** Checks the room for the device memory again, just before the driver copies it. */
  void requireRoom() throws StepFailure {
    Optional<String> missing = node().room().missing(container, work().cuda(), stage.stagedBytes());
    if (missing.isPresent()) {
      throw new StepFailure(Reason.NO_ROOM, missing.get());
    }
  }

  /** The driver has used its part of the reserved memory; a second copy is still to come. */
  void isCheckpointed() throws StepFailure {
    node().ledger().promise(container.id(), stage.stagedBytes(), stage.stagedBytes());
  }

  /** The mappings while locked, to determine what Checkpoint adds. */
  void rememberMaps() {
    planner.rememberMaps();
  }

  /** CUDA processes that have executed another program since they were locked. */
  List<ProcessId> replaced() {
    return planner.replaced();
  }

  /** Plans which memory the mover copies. */
  List<RegionPlan> planRegions() throws StepFailure {
    plans.addAll(planner.plan());
    return plans;
  }

  ThpSetting.Raised raiseThp() throws InterruptedException {
    return request.options().thpAlways() ? node().thp().raise() : node().thp().untouched();
  }

  /**
   * After Checkpoint no process may have a usable handle of the GPU, because criu could not dump
   * it.
   *
   * @return whether forked children have unusable handles
   */
  boolean requireNoLiveDevices() throws StepFailure {
    DeviceHolders holders =
        new DeviceHolders(node().proc(), work().cuda().stream().map(CudaProcess::process).toList());
    List<ProcessStat> members = listAgain().members();
    Optional<String> live = holders.live(members);
    if (live.isPresent()) {
      throw new StepFailure(Reason.REFUSED, live.get());
    }
    return holders.any(members);
  }

  /**
   * Checks the stopped tree again: it may have opened a socket or used a ring since the inspection.
   *
   * @return what prevents the dump while the tree is stopped; empty if nothing does
   * @throws StepFailure if it leaves its pod, and could not be restored in another one
   */
  List<FailedRequirement> requirePortable() throws StepFailure, InterruptedException {
    watched = findWatched();
    List<FailedRequirement> unmet =
        new Inspection(node())
            .stopped(request, container, inspected, listAgain(), cudaProcesses(), watched);
    notPortable = unmet.stream().filter(one -> one.scope() == Scope.NEW_POD).toList();
    if (request.leavesItsPod()) {
      refuse(notPortable);
    }
    return unmet.stream().filter(one -> one.scope() == Scope.CHECKPOINT).toList();
  }

  /** Fails if a requirement is not met. */
  static void refuse(List<FailedRequirement> unmet) throws StepFailure {
    if (!unmet.isEmpty()) {
      throw new StepFailure(
          Reason.REFUSED,
          unmet.stream().map(FailedRequirement::toString).collect(Collectors.joining("; ")));
    }
  }

  /** Paths of what the stopped tree watches. */
  Map<String, String> watched() {
    return watched;
  }

  /** Most of them are known from the inspection. */
  private Map<String, String> findWatched() {
    Watches watches = new Watches(node().proc());
    Set<String> all = new HashSet<>();
    for (ProcessId process : work().tree()) {
      watches.add(process.pid(), node().proc().openFiles(process.pid()), all);
    }
    return watches.paths(container, request.packedMounts(), all, inspected.watched());
  }

  /**
   * Checks the locked processes again: since the inspection they may have begun to share memory,
   * which the driver's Restore would lose, or to use another GPU.
   */
  void requireOwnMemory() throws StepFailure, InterruptedException {
    Set<ProcessId> cuda = cudaProcesses();
    if (cuda.size() > 1 || inspected.seen().size() > 1) {
      refuse(new Inspection(node()).locked(request, container, inspected, listAgain(), cuda));
    }
  }

  private Set<ProcessId> cudaProcesses() {
    return work().cuda().stream().map(CudaProcess::process).collect(Collectors.toSet());
  }

  /** Maximum that criu has to write: everything resident except the copied regions. */
  long bytesLeftToCriu() {
    long moved = plans.stream().mapToLong(RegionPlan::bytes).sum();
    return Math.max(0, inspected.expectedBytes() - inspected.layerBytes() - moved);
  }

  /** Records the facts about the stopped tree. */
  void describe() {
    List<ProcessId> tree = listAgain().living();
    draft =
        new ManifestDraft(
            node().proc(),
            request,
            container,
            cudaInFull(),
            tree,
            work().stoppedBefore(),
            addresses);
    facts =
        draft.read(
            inspected.gpus(),
            inspected.seen(),
            new NodeFactsReader(node().proc().root(), node().tools().criuVersion())
                .read(inspected.gpus()));
  }

  /** Returns the manifest with everything that {@link #describe} found. */
  Manifest manifest(Map<String, Duration> timings, Manifest.DataPath path) {
    if (draft == null || facts == null) {
      throw new IllegalStateException("the tree was not described");
    }
    return draft.complete(facts, work().since(), timings, path, notPortable);
  }
}
