package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.CpusetReader;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.CpuSet;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ThreadSettings;
import dev.stasis.artifact.Hardware;
import dev.stasis.artifact.InterfaceAddress;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.NodeFacts;
import dev.stasis.artifact.Obstacle;
import dev.stasis.artifact.ProcessFacts;
import dev.stasis.artifact.SourceMount;
import dev.stasis.artifact.StdioPipe;
import dev.stasis.artifact.ThreadFacts;
import dev.stasis.artifact.VolumeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** Records the facts about a stopped tree for the manifest. Read while they cannot change. */
final class ManifestDraft {

  /** The kernel's default for every thread, in nanoseconds. */
  private static final long USUAL_TIMER_SLACK = 50_000;

  private final ProcFs proc;
  private final CheckpointRequest request;
  private final Container container;
  private final List<CudaProcess> cuda;
  private final List<ProcessId> tree;
  private final Set<ProcessId> stopped;
  private final List<InterfaceAddress> addresses;

  ManifestDraft(
      ProcFs proc,
      CheckpointRequest request,
      Container container,
      List<CudaProcess> cuda,
      List<ProcessId> tree,
      List<ProcessId> stopped,
      List<InterfaceAddress> addresses) {
    this.proc = proc;
    this.request = request;
    this.container = container;
    this.cuda = List.copyOf(cuda);
    this.tree = List.copyOf(tree);
    this.stopped = Set.copyOf(stopped);
    this.addresses = List.copyOf(addresses);
  }

  /** The facts that are lost when the workload resumes; {@link #complete} adds the rest. */
  record Facts(
      List<ProcessFacts> processes,
      List<SourceMount> mounts,
      List<StdioPipe> stdio,
      Hardware hardware,
      NodeFacts node,
      List<VolumeFile> volumeFiles) {}

  Facts read(NodeGpus gpus, List<Gpu> seen, NodeFacts node) {
    return new Facts(processes(), mounts(), stdio(), hardware(gpus, seen), node, volumeFiles());
  }

  Manifest complete(
      Facts facts,
      Instant since,
      Map<String, Duration> timings,
      Manifest.DataPath path,
      List<FailedRequirement> notPortable) {
    Map<String, Long> millis = new TreeMap<>();
    timings.forEach((step, took) -> millis.put(step, took.toMillis()));
    CheckpointRequest.ImageName image = request.image();
    return new Manifest(
        Manifest.FORMAT_VERSION,
        new Manifest.Origin(
            Objects.requireNonNullElse(request.requester(), request.id()),
            request.namespace(),
            request.namespaceUid(),
            request.owner(),
            since,
            ToolVersion.current()),
        facts.node(),
        facts.hardware(),
        facts.processes(),
        facts.mounts(),
        facts.stdio(),
        image == null ? null : new Manifest.Image(image.reference(), image.digest()),
        new Manifest.User(container.uid(), container.gid()),
        new Manifest.Sizes(0, cuda.stream().mapToLong(CudaProcess::totalBytes).sum()),
        List.of(),
        Map.of(),
        millis,
        path,
        facts.volumeFiles(),
        addresses,
        notPortable.isEmpty()
            ? null
            : notPortable.stream()
                .map(one -> new Obstacle(one.property(), one.wanted(), one.found()))
                .toList(),
        null);
  }

  private List<ProcessFacts> processes() {
    Map<ProcessId, CudaProcess> byId = new HashMap<>();
    cuda.forEach(one -> byId.put(one.process(), one));
    CpuSet room = new CpusetReader().read(container);
    List<ProcessFacts> facts = new ArrayList<>();
    for (ProcessId process : tree) {
      CudaProcess gpu = byId.get(process);
      Map<String, Long> bytes = new TreeMap<>();
      if (gpu != null) {
        gpu.deviceBytes().forEach((uuid, count) -> bytes.put(uuid.text(), count));
      }
      proc.status(process.pid())
          .ifPresent(
              status ->
                  facts.add(
                      new ProcessFacts(
                          process.pid(),
                          process.startTime(),
                          status.nsPids(),
                          proc.cmdline(process.pid()),
                          gpu != null,
                          bytes,
                          stopped.contains(process) ? true : null,
                          threads(process, room))));
    }
    return facts;
  }

  /** Threads with settings that differ from the default. */
  private List<ThreadFacts> threads(ProcessId process, CpuSet room) {
    List<ThreadFacts> facts = new ArrayList<>();
    for (ThreadSettings thread : proc.threadSettings(process.pid())) {
      boolean bound = room.isMoreThan(thread.cpus()) && !thread.cpus().isEmpty();
      long slack = thread.timerSlackNanos();
      if (bound || (slack != 0 && slack != USUAL_TIMER_SLACK)) {
        facts.add(
            new ThreadFacts(
                thread.ownTid(),
                bound ? thread.cpus().toString() : null,
                bound ? room.toString() : null,
                slack == 0 || slack == USUAL_TIMER_SLACK ? null : Long.valueOf(slack)));
      }
    }
    return facts;
  }

  private List<SourceMount> mounts() {
    return container.mounts().stream()
        .map(
            mount ->
                new SourceMount(
                    mount.id(),
                    mount.parentId(),
                    mount.major() + ":" + mount.minor(),
                    mount.root(),
                    mount.mountPoint(),
                    String.join(",", mount.options()),
                    mount.type(),
                    mount.source(),
                    String.join(",", mount.superOptions())))
        .toList();
  }

  /** Every descriptor of the tree for one of the pipes to the outside. */
  private List<StdioPipe> stdio() {
    Map<Long, List<StdioPipe.End>> ends = new TreeMap<>();
    container.pipes().forEach(pipe -> ends.put(pipe.inode(), new ArrayList<>()));
    for (ProcessId process : tree) {
      List<Integer> nsPids =
          proc.status(process.pid()).map(status -> status.nsPids()).orElse(List.of());
      for (OpenFile file : proc.openFiles(process.pid())) {
        if (file.isPipe() && file.inode().isPresent() && !nsPids.isEmpty()) {
          List<StdioPipe.End> known = ends.get(file.inode().getAsLong());
          if (known != null) {
            String mode = file.isWritable() ? (file.isReadable() ? "rw" : "w") : "r";
            known.add(new StdioPipe.End(nsPids.get(nsPids.size() - 1), file.fd(), mode));
          }
        }
      }
    }
    return ends.entrySet().stream()
        .map(entry -> new StdioPipe(entry.getKey(), entry.getValue()))
        .toList();
  }

  private static Hardware hardware(NodeGpus gpus, List<Gpu> seen) {
    List<Hardware.Gpu> inOrder = new ArrayList<>();
    for (int i = 0; i < seen.size(); i++) {
      Gpu gpu = seen.get(i);
      inOrder.add(
          new Hardware.Gpu(
              i,
              gpu.uuid().text(),
              gpu.model(),
              gpu.memoryTotal(),
              gpu.pciBusId(),
              gpu.computeCapability()));
    }
    List<Hardware.Link> links = new ArrayList<>();
    for (GpuLink link : gpus.links()) {
      int from = indexOf(seen, link.first());
      int to = indexOf(seen, link.second());
      if (from >= 0 && to >= 0) {
        links.add(new Hardware.Link(from, to, link.relation().name()));
      }
    }
    return new Hardware(inOrder, links);
  }

  private static int indexOf(List<Gpu> gpus, int index) {
    for (int i = 0; i < gpus.size(); i++) {
      if (gpus.get(i).index() == index) {
        return i;
      }
    }
    return -1;
  }

  /** Open files on mounts with data that are not packed: a restore requires them unchanged. */
  private List<VolumeFile> volumeFiles() {
    Map<String, VolumeFile> files = new TreeMap<>();
    Set<Integer> volumes = new HashSet<>();
    for (Mount mount : container.mounts()) {
      boolean holdsFiles =
          !Set.of("proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2", "overlay")
              .contains(mount.type());
      if (holdsFiles
          && !mount.mountPoint().equals("/")
          && !mount.mountPoint().startsWith("/dev/")
          && !mount.mountPoint().startsWith("/proc/")
          && !request.packedMounts().contains(mount.mountPoint())
          && !mount.isReadOnly()) {
        volumes.add(mount.id());
      }
    }
    for (ProcessId process : tree) {
      for (OpenFile file : proc.openFiles(process.pid())) {
        if (volumes.contains(file.mountId()) && !file.isDeleted()) {
          Path path = proc.folder(process.pid()).resolve("fd").resolve("" + file.fd());
          try {
            BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
            if (found.isRegularFile()) {
              files.put(
                  file.target(),
                  new VolumeFile(
                      file.target(), found.size(), found.lastModifiedTime().toInstant()));
            }
          } catch (IOException e) {
            // The process has ended; then it is not in a manifest either.
            continue;
          }
        }
      }
    }
    return List.copyOf(files.values());
  }
}
