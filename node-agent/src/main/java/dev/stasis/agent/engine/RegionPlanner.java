package dev.stasis.agent.engine;

import dev.stasis.agent.mover.RegionChoice;
import dev.stasis.agent.mover.RegionFinder;
import dev.stasis.agent.mover.RegionJournal;
import dev.stasis.agent.process.MappingUse;
import dev.stasis.agent.process.ProcLimitException;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.artifact.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Plans which memory of the stopped tree the mover copies, and its destination. */
final class RegionPlanner {

  private final Freeze freeze;
  private final RegionFinder finder = new RegionFinder();

  /** Of all CUDA processes; each takes some 40 bytes. */
  private static final int MOST_RANGES = 500_000;

  /** Ranges of CUDA processes while they were locked: later ones belong to the driver. */
  private final Map<ProcessId, List<Region>> before = new LinkedHashMap<>();

  /** The stack of each CUDA process while it was locked: another program has another one. */
  private final Map<ProcessId, Long> stacks = new LinkedHashMap<>();

  private final List<String> leftToCriu = new ArrayList<>();

  RegionPlanner(Freeze freeze) {
    this.freeze = freeze;
  }

  void rememberMaps() {
    int ranges = 0;
    for (CudaProcess one : freeze.work().cuda()) {
      int pid = one.process().pid();
      List<Region> used = finder.used(freeze.node().proc().strict().maps(pid));
      before.put(one.process(), used);
      freeze.node().proc().stat(one.process()).ifPresent(this::rememberStack);
      ranges += used.size();
      if (ranges > MOST_RANGES) {
        throw new ProcLimitException(
            "mappings of CUDA processes up to process " + pid, "at most " + MOST_RANGES);
      }
    }
  }

  private void rememberStack(ProcessStat stat) {
    stacks.put(stat.id(), stat.stackStart());
  }

  /** Returns the CUDA processes that have executed another program since they were locked. */
  List<ProcessId> replaced() {
    return stacks.keySet().stream()
        .flatMap(process -> freeze.node().proc().stat(process).stream())
        .filter(
            stat ->
                stat.stackStart() != 0 && stat.stackStart() != stacks.getOrDefault(stat.id(), 0L))
        .map(ProcessStat::id)
        .toList();
  }

  /** Why criu dumps device memory, one sentence for each affected process. */
  List<String> leftToCriu() {
    return leftToCriu;
  }

  /** A plan for each process with memory to copy. */
  List<RegionPlan> plan() throws StepFailure {
    if (freeze.request().options().dataPath() == CheckpointRequest.DataPathChoice.CRIU) {
      leftToCriu.add("asked for");
      return List.of();
    }
    Map<ProcessId, CudaProcess> cuda = new LinkedHashMap<>();
    freeze.work().cuda().forEach(one -> cuda.put(one.process(), one));
    Set<ProcessId> all = new LinkedHashSet<>(cuda.keySet());
    if (freeze.stage().hostToo()) {
      all.addAll(freeze.work().tree());
    }
    List<RegionPlan> plans = new ArrayList<>();
    for (ProcessId process : all) {
      List<MappingUse> mappings = freeze.node().proc().smaps(process.pid());
      List<Region> device = device(process, cuda.get(process), mappings);
      List<Region> host =
          freeze.stage().hostToo() ? finder.large(mappings, device) : List.<Region>of();
      List<Region> regions = new ArrayList<>(device);
      regions.addAll(host);
      regions.sort(Comparator.comparingLong(Region::address));
      if (!regions.isEmpty()) {
        plans.add(plan(process, regions, host));
      }
    }
    return plans;
  }

  private List<Region> device(
      ProcessId process, @Nullable CudaProcess cuda, List<MappingUse> mappings) {
    if (cuda != null) {
      RegionChoice choice =
          finder.choose(before.getOrDefault(process, List.of()), mappings, cuda.totalBytes());
      if (choice instanceof RegionChoice.Movable movable) {
        return movable.regions();
      }
      if (choice instanceof RegionChoice.LeftToCriu left) {
        leftToCriu.add(left.why());
      }
    }
    return List.of();
  }

  private RegionPlan plan(ProcessId process, List<Region> regions, List<Region> host)
      throws StepFailure {
    NodeParts node = freeze.node();
    int ownPid = freeze.ownPid(process);
    Path folder = node.journal().folderOf(freeze.work().containerId());
    Path place = freeze.stage().folder();
    // That of the artifact exists. The workload is frozen, and its store may not respond.
    boolean inArtifact = place.equals(freeze.artifact().regionFolder());
    try {
      if (!inArtifact) {
        Files.createDirectories(place);
      }
    } catch (IOException e) {
      throw new StepFailure(
          Reason.STORE_FAILED, "cannot create the stage " + place + ": " + e.getMessage(), e);
    }
    return new RegionPlan(
        process,
        ownPid,
        regions,
        host,
        folder.resolve("regions-" + process.pid()),
        inArtifact
            ? freeze.artifact().regionData(ownPid)
            : place.resolve("regions-" + ownPid + ".stage"),
        folder.resolve(RegionJournal.fileName(process)));
  }
}
