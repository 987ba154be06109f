package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.preflight.Contexts;
import dev.stasis.agent.preflight.Contexts.SharedMemory;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.Sockets;
import dev.stasis.agent.process.UnixConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the processes with a CUDA context, and what connects them. Changes nothing. */
final class ContextReader {

  /** A context maps it; cuInit alone only opens it (seen with driver 580). */
  private static final String UVM = "/dev/nvidia-uvm";

  private static final String DEVICES = "/dev/nvidia";

  private static final Set<String> MEMORY = Set.of("tmpfs", "hugetlbfs");

  private final NodeParts node;
  private final ProcFs proc;
  private final InspectionMemory kept = new InspectionMemory();

  ContextReader(NodeParts node) {
    this.node = node;
    this.proc = node.proc().strict();
  }

  /**
   * Reads the contexts of a container.
   *
   * @throws IOException if the sockets of its pod cannot be read
   */
  Contexts read(Container container, List<Subject.Member> members)
      throws IOException, InterruptedException {
    List<Subject.Member> cuda = members.stream().filter(Subject.Member::usesCuda).toList();
    if (cuda.size() < 2) {
      return Contexts.none();
    }
    List<Subject.Member> listed = new ArrayList<>();
    for (Subject.Member member : cuda) {
      if (mayHoldMemory(member)) {
        listed.add(member);
      }
    }
    // A list without any of them does not know the processes of this container.
    List<Subject.Member> holding =
        listed.isEmpty()
            ? cuda
            : cuda.stream().filter(one -> listed.contains(one) || mapsUvm(one)).toList();
    if (holding.size() < 2) {
      return Contexts.none();
    }
    Set<Integer> memoryMounts =
        proc.mounts(container.root().pid()).stream()
            .filter(mount -> MEMORY.contains(mount.type()))
            .map(Mount::id)
            .collect(Collectors.toSet());
    return new Contexts(
        holding.stream()
            .map(member -> new Contexts.Holder(member, memory(member, memoryMounts)))
            .toList(),
        new Sockets(proc)
            .connected(node.tools().runtime(), container.init()).stream()
                .collect(Collectors.toMap(UnixConnection::inode, UnixConnection::peer)));
  }

  private boolean mayHoldMemory(Subject.Member member) throws InterruptedException {
    return !(node.driver().memoryOf(member.id())
            instanceof DriverAnswer.Done<Map<GpuUuid, Long>> done)
        || !done.value().isEmpty();
  }

  private static boolean mapsUvm(Subject.Member member) {
    return member.mappedFiles().contains(UVM);
  }

  private Set<SharedMemory> memory(Subject.Member member, Set<Integer> memoryMounts) {
    int pid = member.id().pid();
    Set<SharedMemory> memory = new HashSet<>();
    for (MemoryMapping mapping : proc.maps(pid)) {
      if (!mapping.isPrivate()
          && mapping.inode() != 0
          && !mapping.path().startsWith(DEVICES)
          && !mapping.path().startsWith("anon_inode:")) {
        memory.add(
            new SharedMemory(
                mapping.device(),
                mapping.inode(),
                kept.keep(pid, mapping.path()),
                mapping.isWritable()));
      }
    }
    for (OpenFile file : member.files()) {
      if (!file.target().startsWith(DEVICES)
          && (file.target().startsWith("/memfd:") || memoryMounts.contains(file.mountId()))) {
        identified(pid, file, memory);
      }
    }
    return memory;
  }

  private void identified(int pid, OpenFile file, Set<SharedMemory> memory) {
    Path link = proc.folder(pid).resolve("fd").resolve("" + file.fd());
    try {
      if (Files.isRegularFile(link)) {
        long device = (Long) Files.getAttribute(link, "unix:dev");
        long inode = (Long) Files.getAttribute(link, "unix:ino");
        memory.add(new SharedMemory(hexadecimal(device), inode, file.target(), file.isWritable()));
      }
    } catch (IOException e) {
      // Closed meanwhile, or the process has ended.
    }
  }

  /** The format of /proc/PID/maps; the bits are those of the C library's gnu_dev_major. */
  private static String hexadecimal(long device) {
    long major = ((device >> 8) & 0xfff) | ((device >> 32) & ~0xfffL);
    long minor = (device & 0xff) | ((device >> 12) & ~0xffL);
    return "%02x:%02x".formatted(major, minor);
  }
}
