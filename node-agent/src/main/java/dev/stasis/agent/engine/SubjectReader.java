package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.layer.ContainerPaths;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.preflight.Surroundings;
import dev.stasis.agent.process.IoUring;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcLimitException;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.Sockets;
import dev.stasis.agent.process.ThreadStat;
import dev.stasis.artifact.InterfaceAddress;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads the input of the preflight from a container. Changes nothing. */
final class SubjectReader {

  /** It is -1 for an ended process. */
  private static final Pattern PIDFD = Pattern.compile("(?m)^Pid:\\s+([0-9]+)$");

  /** The kernel has no event for the end of an operation: polled for half a second. */
  private static final int RING_LOOKS = 100;

  private static final long RING_PAUSE_NANOS = 5_000_000;

  private final ProcFs proc;
  private final NodeMounts nodeMounts;
  private final InspectionMemory memory = new InspectionMemory();
  private final Sockets sockets;
  private final Watches watches;
  private final RightsCheck rights;

  SubjectReader(NodeParts node) {
    this.proc = node.proc().strict();
    this.nodeMounts = new NodeMounts(node.proc());
    this.sockets = new Sockets(proc);
    this.watches = new Watches(proc);
    this.rights = new RightsCheck(node);
  }

  /** Returns the paths of all watched files that can be found. */
  Map<String, String> watched(
      Container container, List<Subject.Member> members, CheckpointRequest request) {
    Set<String> all =
        members.stream().flatMap(member -> member.watches().stream()).collect(Collectors.toSet());
    return watches.paths(container, request.packedMounts(), all, Map.of());
  }

  Surroundings around(
      Container container,
      List<Subject.Member> members,
      CheckpointRequest request,
      Namespaces namespaces,
      Map<String, String> watched) {
    Map<Long, String> protocols = new HashMap<>();
    for (Subject.Member member : members) {
      int pid = member.id().pid();
      for (OpenFile file : member.files()) {
        OptionalLong inode = file.inode();
        if (file.target().startsWith("socket:[")
            && inode.isPresent()
            && !protocols.containsKey(inode.getAsLong())) {
          sockets
              .protocol(pid, file.fd())
              .ifPresent(protocol -> protocols.put(inode.getAsLong(), protocol));
        }
      }
    }
    int root = container.root().pid();
    List<Integer> pids = members.stream().map(member -> member.id().pid()).toList();
    List<Mount> mounts = proc.mounts(root);
    ContainerPaths paths = new ContainerPaths(proc.folder(root).resolve("root"));
    return new Surroundings(
        container.namespaces(),
        mounts,
        request.packedMounts(),
        mounts.stream()
            .map(Mount::mountPoint)
            .filter(request.packedMounts()::contains)
            .filter(path -> !paths.isFolder(path))
            .collect(Collectors.toSet()),
        request.podMounts(),
        nodeMounts.offered().paths(),
        sockets.inet(root),
        namespaces.addresses().stream().map(InterfaceAddress::parsed).collect(Collectors.toSet()),
        protocols,
        namespaces.connected(),
        sockets.unreadNetlink(root),
        ipcObjects(namespaces, mounts, root),
        watched,
        rights
            .label(root)
            .map(FailedRequirement::found)
            .or(() -> rights.labelBeside(root, pids))
            .orElse(null),
        request.addressStays());
  }

  /** Those of System V, and the POSIX message queues where the container has them mounted. */
  private List<String> ipcObjects(Namespaces namespaces, List<Mount> mounts, int root) {
    List<String> objects = new ArrayList<>(namespaces.ipcObjects());
    for (Mount mount : mounts) {
      if (mount.type().equals("mqueue")) {
        Path folder = proc.folder(root).resolve("root" + mount.mountPoint());
        try (DirectoryStream<Path> queues = Files.newDirectoryStream(folder)) {
          queues.forEach(queue -> objects.add("POSIX message queue /" + queue.getFileName()));
        } catch (IOException | DirectoryIteratorException e) {
          // The process has ended, or another mount hides the queues from its programs.
        }
      }
    }
    return objects;
  }

  /**
   * Reads one process.
   *
   * @throws ProcLimitException if it, or all of them together, have more than the agent reads
   */
  Subject.Member member(ProcessStat stat, boolean cuda) {
    int pid = stat.pid();
    Set<String> mapped = new HashSet<>();
    for (MemoryMapping mapping : proc.maps(pid)) {
      // The inode of a segment of System V is its id, which may be 0.
      if (mapping.inode() != 0
          || mapping.path().equals("[uprobes]")
          || mapping.path().startsWith("/SYSV")) {
        mapped.add(memory.keep(pid, mapping.path()));
      }
    }
    List<OpenFile> files =
        proc.openFiles(pid).stream().map(file -> memory.keep(pid, file)).toList();
    // For the manifest, which has those of all processes.
    proc.cmdline(pid).forEach(argument -> memory.keep(pid, argument));
    Set<String> watched = new HashSet<>();
    watches.add(pid, files, watched);
    return new Subject.Member(
        stat,
        cuda,
        files,
        proc.descriptorLimit(pid).orElse(Long.MAX_VALUE),
        memory.keep(pid, proc.environment(pid)),
        proc.namespaces(pid),
        mapped,
        tracer(pid),
        watched.stream().map(inode -> memory.keep(pid, inode)).collect(Collectors.toSet()),
        pidfds(pid, files),
        rings(pid, files),
        proc.hasAddressLimit(pid));
  }

  /** For any of its threads. */
  private int tracer(int pid) {
    return proc.threads(pid).stream()
        .mapToInt(ThreadStat::tracerPid)
        .filter(tracer -> tracer != 0)
        .findFirst()
        .orElse(0);
  }

  /** A busy ring is read again for a moment: most operations take microseconds. */
  private List<IoUring> rings(int pid, List<OpenFile> files) {
    List<IoUring> rings = new ArrayList<>();
    for (OpenFile file : files) {
      if (file.target().equals(IoUring.TARGET)) {
        IoUring ring = IoUring.parse(file.fd(), proc.fileInfo(pid, file.fd()));
        for (int look = 0; ring.busy() && look < RING_LOOKS; look++) {
          LockSupport.parkNanos(RING_PAUSE_NANOS);
          ring = IoUring.parse(file.fd(), proc.fileInfo(pid, file.fd()));
        }
        rings.add(ring);
      }
    }
    return rings;
  }

  /**
   * The processes to which its pidfds refer. criu restores those of ended and of unreaped
   * processes.
   */
  private Set<Integer> pidfds(int pid, List<OpenFile> files) {
    Set<Integer> processes = new HashSet<>();
    for (OpenFile file : files) {
      if (file.target().equals("anon_inode:[pidfd]")) {
        Matcher process = PIDFD.matcher(proc.fileInfo(pid, file.fd()));
        if (process.find()
            && proc.stat(Integer.parseInt(process.group(1)))
                .filter(ProcessStat::isZombie)
                .isEmpty()) {
          processes.add(Integer.parseInt(process.group(1)));
        }
      }
    }
    return processes;
  }
}
