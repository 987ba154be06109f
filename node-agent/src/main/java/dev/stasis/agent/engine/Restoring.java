package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.criu.MountPair;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.Hardware;
import dev.stasis.artifact.ProcessFacts;
import dev.stasis.artifact.RegionSet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The state shared by the steps of one restore. */
final class Restoring extends FrozenWork {

  private final RestoreRequest request;
  private final Artifact artifact;
  private final Container target;
  private final List<Gpu> gpus;
  private final List<MountPair> mounts;
  private final Map<Integer, ProcessId> byOwnPid = new TreeMap<>();
  private final List<ProvenProcess> proof = new ArrayList<>();
  private final DeviceMemoryProof memory;
  private @Nullable Beside keeper;

  Restoring(
      NodeParts node,
      Work work,
      StepListener listener,
      RestoreRequest request,
      Artifact artifact,
      Container target,
      List<Gpu> gpus,
      List<MountPair> mounts) {
    super(node, work, listener);
    this.request = request;
    this.artifact = artifact;
    this.target = target;
    this.gpus = List.copyOf(gpus);
    this.mounts = List.copyOf(mounts);
    this.memory = new DeviceMemoryProof(node.driver());
  }

  RestoreRequest request() {
    return request;
  }

  Artifact artifact() {
    return artifact;
  }

  /** The waiting container, with its holder as the first process. */
  Container target() {
    return target;
  }

  List<MountPair> mounts() {
    return mounts;
  }

  /** The restored processes by their own pids; filled once they exist. */
  Map<Integer, ProcessId> byOwnPid() {
    return byOwnPid;
  }

  List<ProvenProcess> proof() {
    return proof;
  }

  /** The verification of device memory. */
  DeviceMemoryProof memory() {
    return memory;
  }

  /** The CUDA processes that have all of their device memory after the driver's Restore. */
  List<CudaProcess> restoredByDriver() {
    List<RegionSet> later = artifact.manifest().deviceSets();
    return work().cuda().stream()
        .filter(
            one ->
                later.stream()
                    .noneMatch(set -> Objects.equals(one.process(), byOwnPid.get(set.ownPid()))))
        .toList();
  }

  /** The holder's folder on the host. */
  Path holderFolder() {
    return node().proc().folder(target.init().pid()).resolve("root/.stasis");
  }

  /** The replacement of each GPU; empty if they are the same ones in the same order. */
  List<GpuPair> map() {
    List<Hardware.Gpu> before = artifact.manifest().hardware().gpus();
    List<GpuPair> pairs = new ArrayList<>();
    boolean same = true;
    for (int i = 0; i < before.size(); i++) {
      GpuPair pair = new GpuPair(GpuUuid.parse(before.get(i).uuid()), gpus.get(i).uuid());
      same &= pair.from().equals(pair.to());
      pairs.add(pair);
    }
    return same ? List.of() : pairs;
  }

  /** Returns the destination of a GPU's device memory. */
  Map<GpuUuid, Long> moved(Map<String, Long> before) {
    Map<String, GpuUuid> to = new HashMap<>();
    List<Hardware.Gpu> hardware = artifact.manifest().hardware().gpus();
    for (int i = 0; i < hardware.size(); i++) {
      to.put(hardware.get(i).uuid(), gpus.get(i).uuid());
    }
    Map<GpuUuid, Long> moved = new TreeMap<>();
    before.forEach(
        (uuid, bytes) -> moved.merge(to.getOrDefault(uuid, GpuUuid.parse(uuid)), bytes, Long::sum));
    return moved;
  }

  /** The device memory of all processes, on the GPUs of the target. */
  Map<GpuUuid, Long> deviceBytes() {
    Map<GpuUuid, Long> all = new TreeMap<>();
    cudaFacts()
        .forEach(
            facts ->
                moved(facts.gpuBytes()).forEach((gpu, bytes) -> all.merge(gpu, bytes, Long::sum)));
    return all;
  }

  /**
   * Frees what was loaded while it arrived, if the driver would wait for that memory: more than was
   * expected is needed, or another process has taken some.
   */
  void giveWay() throws StepFailure, InterruptedException {
    if (node().gate().missing(deviceBytes()).isPresent()) {
      node().keepers().end(work().containerId());
    }
  }

  /** Starts a keeper, whose context takes up to a second, and loads device memory. */
  void startKeeper() {
    keeper = Beside.start("keeper of " + work().containerId(), new Prefill(this)::run);
  }

  void awaitKeeper() throws StepFailure, InterruptedException {
    if (keeper != null) {
      keeper.await();
    }
  }

  /**
   * Loads nothing more, because the restore has failed: a frozen source may wait for its end. The
   * keeper stops when the connection is closed.
   */
  void cancelKeeper() throws InterruptedException {
    if (keeper != null) {
      var unused = keeper.cancel();
    }
  }

  /** The GPUs of the target, in the order of those of the source. */
  List<Gpu> gpus() {
    return gpus;
  }

  Set<GpuUuid> gpuSet() {
    return gpus.stream().map(Gpu::uuid).collect(Collectors.toSet());
  }

  List<ProcessFacts> cudaFacts() {
    return artifact.manifest().processes().stream().filter(ProcessFacts::cuda).toList();
  }
}
