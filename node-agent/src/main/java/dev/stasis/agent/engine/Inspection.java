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
import dev.stasis.agent.preflight.Preflight;
import dev.stasis.agent.preflight.Scope;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.preflight.Surroundings;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.artifact.InterfaceAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks at a running workload and says what rules a checkpoint out, and how big one would be.
 * Touches nothing.
 */
final class Inspection {

  /** The driver and NVML answer in milliseconds; half a minute means that they are in trouble. */
  private static final Duration QUESTION_DEADLINE = Duration.ofSeconds(30);

  /**
   * A tree that forks all the time is listed this often before it is taken as it is; the stop lists
   * again.
   */
  private static final int LISTINGS = 5;

  /**
   * The writable layer and criu's tables, beside the memory: a guess that only the disk check uses.
   */
  private static final long BESIDE_MEMORY = 64L << 20;

  private static final Pattern RSS = Pattern.compile("(?m)^VmRSS:\\s*([0-9]+) kB");

  private final NodeParts node;

  Inspection(NodeParts node) {
    this.node = node;
  }

  Inspected inspect(CheckpointRequest request, Container container) throws InterruptedException {
    List<Unmet> unmet = new ArrayList<>();
    DriverAnswer<NodeGpus> answer = node.driver().gpus(QUESTION_DEADLINE);
    if (!(answer instanceof DriverAnswer.Done<NodeGpus> done)
        || !(done.value().availability() instanceof DriverAvailability.Present)) {
      String found =
          answer instanceof DriverAnswer.Done<NodeGpus> silent
              ? silent.value().availability().describe()
              : answer.describe();
      unmet.add(new Unmet("GPU driver", "one that answers on this node", found));
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
    long gpuBytes = 0;
    long residentBytes = 0;
    for (ProcessStat stat : listing.members()) {
      if (!stat.isZombie()) {
        boolean cuda = usesCuda(stat.id());
        members.add(reader.member(stat, cuda));
        residentBytes += resident(stat.pid());
        gpuBytes += cuda ? deviceBytes(stat.id()) : 0;
      }
    }
    Set<Integer> seenIndexes = new HashSet<>();
    seen.forEach(gpu -> seenIndexes.add(gpu.index()));
    boolean mps =
        node.proc().processes().stream()
            .anyMatch(stat -> stat.comm().startsWith("nvidia-cuda-mps"));
    long hostUser =
        node.proc().namespaces((int) ProcessHandle.current().pid()).getOrDefault("user", 0L);
    List<Unmet> notPortable = new ArrayList<>();
    List<InterfaceAddress> addresses = addresses(container, unmet);
    Surroundings around = reader.around(container, members, request, addresses);
    for (Unmet one :
        new Preflight(request.options().allowPeerToPeer())
            .unmet(new Subject(members, gpus, seenIndexes, hostUser, mps, around))) {
      if (one.scope() == Scope.NEW_POD) {
        notPortable.add(one);
      }
      if (one.scope() == Scope.CHECKPOINT || request.leavesItsPod()) {
        unmet.add(one);
      }
    }
    for (ProcessStat foreign : listing.foreign()) {
      if (!foreign.isZombie()) {
        unmet.add(
            new Unmet(
                "processes of the container",
                "only those of the workload",
                "process %s (%s), an exec session or the like"
                    .formatted(foreign.id(), foreign.comm())));
      }
    }
    return new Inspected(
        unmet,
        notPortable,
        addresses,
        gpus,
        seen,
        members.size(),
        gpuBytes,
        residentBytes,
        gpuBytes + residentBytes + BESIDE_MEMORY,
        node.room().found(container, gpuBytes));
  }

  private List<InterfaceAddress> addresses(Container container, List<Unmet> unmet)
      throws InterruptedException {
    try {
      return new InterfaceAddressReader(node.tools().runtime()).read(container.init());
    } catch (IOException e) {
      unmet.add(
          new Unmet(
              "network interfaces", "addresses that can be read", String.valueOf(e.getMessage())));
      return List.of();
    }
  }

  private boolean usesCuda(ProcessId process) {
    return node.driver().restoreThread(process, QUESTION_DEADLINE)
            instanceof DriverAnswer.Done<CudaCall> done
        && done.value().succeeded();
  }

  private long deviceBytes(ProcessId process) {
    return node.driver().memoryOf(process, QUESTION_DEADLINE)
            instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done
        ? done.value().values().stream().mapToLong(Long::longValue).sum()
        : 0;
  }

  /** What keeps a stopped workload from another pod, now that nothing of it can change. */
  List<Unmet> portability(
      CheckpointRequest request, Container container, List<InterfaceAddress> addresses) {
    SubjectReader reader = new SubjectReader(node);
    List<Subject.Member> members =
        node.tree().list(container).members().stream()
            .filter(stat -> !stat.isZombie())
            .map(stat -> reader.member(stat, false))
            .toList();
    Surroundings around = reader.around(container, members, request, addresses);
    NodeGpus gpus = NodeGpus.none(new DriverAvailability.NoDevice("not asked"));
    return Preflight.portability().unmet(new Subject(members, gpus, Set.of(), 0, false, around));
  }

  private long resident(int pid) {
    try {
      Matcher rss = RSS.matcher(Files.readString(node.proc().folder(pid).resolve("status")));
      return rss.find() ? Long.parseLong(rss.group(1)) * 1024 : 0;
    } catch (IOException e) {
      return 0; // It has ended.
    }
  }
}
