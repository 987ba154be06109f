package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.criu.InterfaceAddressReader;
import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.layer.LayerSize;
import dev.stasis.agent.preflight.Contexts;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Preflight;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.preflight.Surroundings;
import dev.stasis.agent.process.ProcLimitException;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.RuntimeQuestion;
import dev.stasis.agent.process.Sockets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Inspects a running workload: what prevents a checkpoint, and its expected size. Changes nothing.
 */
final class Inspection {

  /**
   * How often a constantly forking tree is listed before the last list is used; the stop lists it
   * again.
   */
  private static final int LISTINGS = 5;

  /** An estimate of criu's tables, besides the memory. */
  private static final long BESIDE_MEMORY = 64L << 20;

  /** Linux allows some 32,000 sets of semaphores, and as many queues and segments. */
  private static final int MOST_IPC_OBJECTS = 100_000;

  private static final String FOREIGN = "processes of the container";

  private final NodeParts node;

  Inspection(NodeParts node) {
    this.node = node;
  }

  Inspected inspect(CheckpointRequest request, Container container) throws InterruptedException {
    try {
      return inspectWhole(request, container);
    } catch (ProcLimitException e) {
      return Inspected.refused(
          List.of(new FailedRequirement(e.property(), e.expected(), "more")), "not asked");
    }
  }

  private Inspected inspectWhole(CheckpointRequest request, Container container)
      throws InterruptedException {
    List<FailedRequirement> unmet = new ArrayList<>();
    DriverAnswer<NodeGpus> answer = node.driver().gpus();
    if (!(answer instanceof DriverAnswer.Done<NodeGpus> done)
        || !(done.value().availability() instanceof DriverAvailability.Present)) {
      String found =
          answer instanceof DriverAnswer.Done<NodeGpus> silent
              ? silent.value().availability().describe()
              : answer.describe();
      unmet.add(new FailedRequirement("GPU driver", "one that answers on this node", found));
      return Inspected.refused(unmet, found);
    }
    NodeGpus gpus = done.value();
    DeviceAccess access = new DeviceAccess(node.tools().runtime());
    List<Gpu> seen =
        new ContainerGpus(node.proc().root())
            .of(container.root().pid(), gpus.gpus(), device -> access.allows(container, device));
    ProcessTree.Listing listing = node.tree().listUntilStable(container, LISTINGS);
    SubjectReader reader = new SubjectReader(node);
    List<Subject.Member> members = new ArrayList<>();
    List<ProcessId> cudaProcesses = new ArrayList<>();
    Map<ProcessId, Map<GpuUuid, Long>> deviceMemory = new HashMap<>();
    long residentBytes = 0;
    for (ProcessStat stat : listing.members()) {
      if (!stat.isZombie()) {
        boolean cuda = usesCuda(stat.id());
        members.add(reader.member(stat, cuda));
        residentBytes += node.proc().memory(stat.pid(), "VmRSS").orElse(0);
        if (cuda) {
          cudaProcesses.add(stat.id());
          deviceMemory.put(stat.id(), deviceMemory(stat.id()));
        }
      }
    }
    long gpuBytes =
        deviceMemory.values().stream()
            .flatMap(bytes -> bytes.values().stream())
            .mapToLong(Long::longValue)
            .sum();
    boolean mps = new MpsFinder(node.proc()).mayServe(container);
    List<FailedRequirement> notPortable = new ArrayList<>();
    Namespaces namespaces = namespaces(container, unmet);
    Map<String, String> watched = reader.watched(container, members, request);
    Surroundings around = reader.around(container, members, request, namespaces, watched);
    for (FailedRequirement one :
        new Preflight(request.options().nothingShared())
            .unmet(
                new Subject(
                    members,
                    gpus,
                    indexes(seen),
                    hostUserNamespace(),
                    mps,
                    around,
                    contexts(container, members, unmet),
                    memoryOn(deviceMemory)))) {
      if (one.scope() == Scope.NEW_POD) {
        notPortable.add(one);
      }
      if (one.scope() == Scope.CHECKPOINT || request.leavesItsPod()) {
        unmet.add(one);
      }
    }
    unmet.addAll(foreign(listing));
    DataPath dataPath =
        new DataPathChooser(node.keepers(), new WayBack(node.calls(), node.gate()))
            .choose(request, cudaProcesses);
    if (dataPath instanceof DataPath.None none) {
      unmet.add(
          new FailedRequirement(
              "direct data path",
              "possible, because memory was or may have been handed over before",
              none.why()));
    }
    PackedFolders folders = PackedFolders.of(node.proc(), container, request);
    LayerSize.Estimate layer =
        new LayerSize().of(folders.upper(), folders.root(), folders.volumes());
    return new Inspected(
        unmet,
        notPortable,
        namespaces.addresses(),
        watched,
        new NodeNeeds(node.proc()).of(members, container.mounts()).and(NodeNeeds.mounts(around)),
        gpus,
        seen,
        members.stream().map(Subject.Member::id).toList(),
        gpuBytes,
        residentBytes,
        layer.bytes(),
        layer.aheadBytes(),
        gpuBytes + residentBytes + layer.bytes() + BESIDE_MEMORY,
        node.room().found(container, gpuBytes),
        dataPath);
  }

  /** Processes that a stop does not reach and a dump leaves out. */
  private static List<FailedRequirement> foreign(ProcessTree.Listing listing) {
    return listing.foreign().stream()
        .filter(stat -> !stat.isZombie())
        .map(
            stat ->
                new FailedRequirement(
                    FOREIGN,
                    "only those of the workload",
                    "process %s (%s), an exec session or the like"
                        .formatted(stat.id(), stat.comm())))
        .toList();
  }

  /**
   * Returns whether an obstacle of a stopped workload may be gone a moment later, if the workload
   * runs meanwhile. An exec probe of the kubelet ends by itself.
   */
  static boolean mayPass(FailedRequirement one) {
    return one.property().equals(FOREIGN) || Requirement.mayPass(one);
  }

  private Namespaces namespaces(Container container, List<FailedRequirement> unmet)
      throws InterruptedException {
    Path runtime = node.tools().runtime();
    try {
      return new Namespaces(
          new InterfaceAddressReader(runtime).read(container.init()),
          new Sockets(node.proc()).connected(runtime, container.init()),
          new RuntimeQuestion(runtime, "ipc", MOST_IPC_OBJECTS)
              .ask(container.init()).stream().map(Inspection::ipcObject).toList());
    } catch (IOException e) {
      unmet.add(
          new FailedRequirement(
              "namespaces",
              "readable addresses, Unix sockets and System V objects",
              String.valueOf(e.getMessage())));
      return Namespaces.NONE;
    }
  }

  /** Of a line KIND ID. */
  private static String ipcObject(String line) {
    String[] fields = line.split(" ");
    String kind =
        switch (fields[0]) {
          case "sem" -> "semaphore set";
          case "msg" -> "message queue";
          default -> "shared memory segment";
        };
    return kind + " " + fields[1];
  }

  private Contexts contexts(
      Container container, List<Subject.Member> members, List<FailedRequirement> unmet)
      throws InterruptedException {
    try {
      return new ContextReader(node).read(container, members);
    } catch (IOException e) {
      unmet.add(
          new FailedRequirement("Unix sockets", "readable peers", String.valueOf(e.getMessage())));
      return Contexts.none();
    }
  }

  /** The requirements of device memory, for locked processes: no call can change it any more. */
  List<FailedRequirement> locked(
      CheckpointRequest request,
      Container container,
      Inspected before,
      ProcessTree.Listing listing,
      Set<ProcessId> cuda)
      throws InterruptedException {
    List<FailedRequirement> unmet = new ArrayList<>();
    SubjectReader reader = new SubjectReader(node);
    List<Subject.Member> members =
        listing.members().stream()
            .filter(stat -> cuda.contains(stat.id()))
            .map(stat -> reader.member(stat, true))
            .toList();
    Surroundings around = reader.around(container, members, request, Namespaces.NONE, Map.of());
    Contexts contexts = contexts(container, members, unmet);
    Map<ProcessId, Map<GpuUuid, Long>> memory = new HashMap<>();
    cuda.forEach(process -> memory.put(process, deviceMemory(process)));
    unmet.addAll(
        Preflight.locked(request.options().nothingShared())
            .unmet(
                new Subject(
                    members,
                    before.gpus(),
                    indexes(before.seen()),
                    0,
                    false,
                    around,
                    contexts,
                    memoryOn(memory))));
    return unmet;
  }

  private long hostUserNamespace() {
    return new HostUserNamespace(node.proc()).inode();
  }

  private boolean usesCuda(ProcessId process) {
    return node.driver().restoreThread(process) instanceof DriverAnswer.Done<CudaCall> done
        && done.value().succeeded();
  }

  private Map<GpuUuid, Long> deviceMemory(ProcessId process) {
    return node.driver().memoryOf(process) instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done
        ? done.value()
        : Map.of();
  }

  private static Set<Integer> indexes(List<Gpu> gpus) {
    return gpus.stream().map(Gpu::index).collect(Collectors.toSet());
  }

  private static Map<ProcessId, Set<GpuUuid>> memoryOn(Map<ProcessId, Map<GpuUuid, Long>> bytes) {
    Map<ProcessId, Set<GpuUuid>> gpus = new HashMap<>();
    bytes.forEach((process, each) -> gpus.put(process, each.keySet()));
    return gpus;
  }

  /**
   * Returns what a stopped workload does not meet, now that nothing of it can change.
   *
   * @param cuda its processes that use CUDA
   * @param watched paths of the files that it watches
   */
  List<FailedRequirement> stopped(
      CheckpointRequest request,
      Container container,
      Inspected before,
      ProcessTree.Listing listing,
      Set<ProcessId> cuda,
      Map<String, String> watched)
      throws InterruptedException {
    SubjectReader reader = new SubjectReader(node);
    List<Subject.Member> members =
        listing.members().stream()
            .filter(stat -> !stat.isZombie())
            .map(stat -> reader.member(stat, cuda.contains(stat.id())))
            .toList();
    // A double fork or an exec since the inspection: it would run on while criu reads the memory.
    List<FailedRequirement> unmet = new ArrayList<>(foreign(listing));
    Namespaces now = namespaces(container, unmet);
    Namespaces namespaces = new Namespaces(before.addresses(), now.connected(), now.ipcObjects());
    Surroundings around = reader.around(container, members, request, namespaces, watched);
    NodeGpus gpus = NodeGpus.none(new DriverAvailability.NoDevice("not asked"));
    unmet.addAll(
        Preflight.stopped()
            .unmet(new Subject(members, gpus, Set.of(), hostUserNamespace(), false, around)));
    NodeNeeds.features(members).values().keySet().stream()
        .filter(property -> before.needs().value(property).isEmpty())
        .forEach(
            property ->
                unmet.add(
                    new FailedRequirement(
                        property.key(),
                        "none before the freeze: nodes were compared without it (retry)",
                        "a first one",
                        Scope.NEW_POD)));
    return unmet;
  }
}
