package dev.stasis.agent.engine;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.layer.LayerPacker;
import dev.stasis.agent.mover.RegionChoice;
import dev.stasis.agent.mover.RegionFinder;
import dev.stasis.agent.mover.RegionJournal;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.InterfaceAddress;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What the steps of one checkpoint share on their way forward. */
final class Freeze extends FrozenWork {

  /** The driver answers these in a millisecond; half a minute means that it is in trouble. */
  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  private final CheckpointRequest request;
  private final Container container;
  private final @Nullable ArtifactStage artifact;
  private final Path stageFolder;
  private final Inspected inspected;
  private final LayerPacker layerPacker;
  private final StageListener stages;
  private final List<InterfaceAddress> addresses;
  private @Nullable ManifestDraft draft;
  private ManifestDraft.@Nullable Facts facts;
  private List<Unmet> notPortable = List.of();
  private final Map<ProcessId, List<MemoryMapping>> mapsBefore = new LinkedHashMap<>();
  private final List<RegionPlan> plans = new ArrayList<>();
  private final List<String> leftToCriu = new ArrayList<>();

  Freeze(
      NodeParts node,
      Work work,
      StepListener listener,
      CheckpointRequest request,
      Container container,
      @Nullable ArtifactStage artifact,
      Path stageFolder,
      Inspected inspected,
      StageListener stages)
      throws IOException {
    super(node, work, listener);
    this.stages = stages;
    this.inspected = inspected;
    this.request = request;
    this.container = container;
    this.artifact = artifact;
    this.stageFolder = stageFolder;
    this.addresses = inspected.addresses();
    // Made here, before anything is frozen: it loads native code.
    this.layerPacker = new LayerPacker(container.mounts().stream().map(Mount::mountPoint).toList());
  }

  CheckpointRequest request() {
    return request;
  }

  /** The container as it was found before anything was touched. */
  Container source() {
    return container;
  }

  /** The artifact being written; steps that need one run only where there is one. */
  ArtifactStage artifact() {
    if (artifact == null) {
      throw new IllegalStateException("a suspend in memory has no artifact");
    }
    return artifact;
  }

  /** Hears which files of the artifact are final. */
  StageListener stages() {
    return stages;
  }

  LayerPacker layerPacker() {
    return layerPacker;
  }

  Path stageFolder() {
    return stageFolder;
  }

  /** The regions that were moved beside criu. */
  List<RegionPlan> plans() {
    return plans;
  }

  /** Which way the memory went, and why. */
  String pathTaken() {
    if (plans.isEmpty()) {
      return "criu: " + String.join("; ", leftToCriu);
    }
    return leftToCriu.isEmpty()
        ? "mover"
        : "mover; criu for a part: " + String.join("; ", leftToCriu);
  }

  /** CUDA processes that are not in the work yet. */
  List<CudaProcess> unknownCudaProcesses() throws StepFailure {
    Set<ProcessId> known = new HashSet<>();
    work().cuda().forEach(one -> known.add(one.process()));
    List<CudaProcess> found = new ArrayList<>();
    CudaUse use = CudaUse.of(node());
    for (ProcessId process : node().tree().list(container).living()) {
      if (!known.contains(process)) {
        OptionalInt thread = use.restoreThread(process);
        if (thread.isPresent()) {
          found.add(new CudaProcess(process, thread.getAsInt(), deviceBytes(process)));
        }
      }
    }
    return found;
  }

  /** Device memory of a process, as NVML tells it. */
  Map<GpuUuid, Long> deviceBytes(ProcessId process) throws StepFailure {
    DriverAnswer<Map<GpuUuid, Long>> answer = node().driver().memoryOf(process, QUESTION_DEADLINE);
    if (answer instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done) {
      return done.value();
    }
    throw new StepFailure(
        Reason.DRIVER_ERROR,
        "device memory of process %s is not known: %s".formatted(process, answer.describe()));
  }

  /** Looks again at the room for the device memory, just before it moves. */
  void requireRoom() throws StepFailure {
    Optional<String> missing = node().room().missing(container, work().cuda(), memoryCopies());
    if (missing.isPresent()) {
      throw new StepFailure(Reason.NO_ROOM, missing.get());
    }
  }

  private int memoryCopies() {
    return new StagePlan(node(), request, container, inspected.gpuBytes()).copies(stageFolder);
  }

  /** The driver has taken its part of the promised memory; a second copy is still to come. */
  void isCheckpointed() throws StepFailure {
    long stage = memoryCopies() > 1 ? inspected.gpuBytes() : 0;
    node().ledger().promise(container.id(), stage, stage);
  }

  /** The mappings while locked, to tell what Checkpoint adds. */
  void rememberMaps() {
    for (CudaProcess one : work().cuda()) {
      mapsBefore.put(one.process(), node().proc().maps(one.process().pid()));
    }
  }

  ThpSetting.Raised raiseThp() throws InterruptedException {
    return request.options().thpAlways() ? node().thp().raise() : node().thp().untouched();
  }

  /**
   * After Checkpoint no process may hold the GPU in any way that works: criu could not dump it.
   *
   * @return whether forked children hold what works no more
   */
  boolean requireNoLiveDevices() throws StepFailure {
    DeviceHolders holders =
        new DeviceHolders(node().proc(), work().cuda().stream().map(CudaProcess::process).toList());
    List<ProcessStat> members = node().tree().list(container).members();
    Optional<String> live = holders.live(members);
    if (live.isPresent()) {
      throw new StepFailure(Reason.REFUSED, live.get());
    }
    return holders.any(members);
  }

  /**
   * Judges the stopped tree once more: it may have opened a socket since it was inspected.
   *
   * @throws StepFailure when it leaves its pod, and could not be restored in another one
   */
  void requirePortable() throws StepFailure {
    notPortable = new Inspection(node()).portability(request, container, addresses);
    if (request.leavesItsPod() && !notPortable.isEmpty()) {
      throw new StepFailure(
          Reason.REFUSED,
          notPortable.stream().map(Unmet::toString).collect(Collectors.joining("; ")));
    }
  }

  /** Which of a process's memory goes by the mover; says so when none does. */
  RegionChoice chooseRegions(CudaProcess process) {
    RegionChoice choice = choose(process);
    if (choice instanceof RegionChoice.LeftToCriu left) {
      leftToCriu.add(left.why());
    }
    return choice;
  }

  private RegionChoice choose(CudaProcess one) {
    if (request.options().dataPath() == CheckpointRequest.DataPathChoice.CRIU) {
      return new RegionChoice.LeftToCriu("asked for");
    }
    List<MemoryMapping> before = mapsBefore.getOrDefault(one.process(), List.of());
    return new RegionFinder()
        .choose(before, node().proc().smaps(one.process().pid()), one.totalBytes());
  }

  RegionPlan planMove(CudaProcess process, List<Region> regions) throws StepFailure {
    int ownPid =
        node()
            .proc()
            .status(process.process().pid())
            .map(status -> status.nsPids().get(status.nsPids().size() - 1))
            .orElseThrow(
                () ->
                    new StepFailure(
                        Reason.WORKLOAD_GONE, "process " + process.process() + " has ended"));
    Path folder = node().journal().folderOf(work().containerId());
    boolean inArtifact = artifact != null && stageFolder.equals(artifact.regionFolder());
    Path stage =
        inArtifact
            ? artifact().regionData(ownPid)
            : stageFolder.resolve("regions-" + ownPid + ".stage");
    try {
      Files.createDirectories(stageFolder);
    } catch (IOException e) {
      throw new StepFailure(
          Reason.STORE_FAILED, "cannot make the stage " + stageFolder + ": " + e.getMessage(), e);
    }
    RegionPlan plan =
        new RegionPlan(
            process,
            ownPid,
            regions,
            folder.resolve("regions-" + process.process().pid()),
            stage,
            folder.resolve(RegionJournal.fileName(process.process())));
    plans.add(plan);
    return plan;
  }

  /** The cgroups that are charged for what a helper of ours stages in memory. */
  List<Path> chargedCgroups() {
    return container.ownsCgroups()
        ? container.cgroups().stream()
            .filter(cgroup -> cgroup.isUnified() || cgroup.controls("memory"))
            .filter(cgroup -> Files.exists(cgroup.folder().resolve("memory.stat")))
            .map(Cgroup::folder)
            .toList()
        : List.of();
  }

  /** What criu has to write at most: everything resident but what was moved. */
  long bytesLeftToCriu() {
    long moved = plans.stream().mapToLong(RegionPlan::bytes).sum();
    return Math.max(0, inspected.expectedBytes() - moved);
  }

  /** Writes down what the stopped tree is. */
  void describe() {
    List<ProcessId> tree = node().tree().list(container).living();
    draft =
        new ManifestDraft(
            node().proc(),
            request,
            container,
            work().cuda(),
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

  /** The manifest with all that {@link #describe} found. */
  Manifest manifest(Map<String, Duration> timings, Manifest.DataPath path) {
    if (draft == null || facts == null) {
      throw new IllegalStateException("the tree was not described");
    }
    return draft.complete(facts, work().since(), timings, path, notPortable);
  }
}
