package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.preflight.Subject;
import dev.stasis.agent.preflight.Surroundings;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.Sockets;
import dev.stasis.agent.process.ThreadStat;
import dev.stasis.artifact.InterfaceAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads of a container what the preflight judges. Touches nothing. */
final class SubjectReader {

  /** The device of a watched file, as the kernel keeps it: the minor number in the low 20 bits. */
  private static final Pattern WATCH = Pattern.compile("(?m)^inotify wd:.* sdev:([0-9a-f]+)");

  private static final int MINOR_BITS = 20;

  private final ProcFs proc;
  private final Sockets sockets;
  private final RightsCheck rights;

  SubjectReader(NodeParts node) {
    this.proc = node.proc();
    this.sockets = new Sockets(proc);
    this.rights = new RightsCheck(node);
  }

  Surroundings around(
      Container container,
      List<Subject.Member> members,
      CheckpointRequest request,
      List<InterfaceAddress> addresses) {
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
    return new Surroundings(
        container.namespaces(),
        proc.mounts(root),
        request.packedMounts(),
        request.podMounts(),
        sockets.inet(root),
        addresses.stream().map(InterfaceAddress::parsed).collect(Collectors.toSet()),
        protocols,
        rights.label(root).map(Unmet::found).orElse(null),
        request.addressStays());
  }

  Subject.Member member(ProcessStat stat, boolean cuda) {
    Set<String> mapped = new HashSet<>();
    for (MemoryMapping mapping : proc.maps(stat.pid())) {
      if (mapping.inode() != 0 || mapping.path().equals("[uprobes]")) {
        mapped.add(mapping.path());
      }
    }
    List<OpenFile> files = proc.openFiles(stat.pid());
    return new Subject.Member(
        stat,
        cuda,
        files,
        proc.descriptorLimit(stat.pid()).orElse(Long.MAX_VALUE),
        proc.environment(stat.pid()),
        proc.namespaces(stat.pid()),
        mapped,
        tracer(stat.pid()),
        watches(stat.pid(), files));
  }

  /** Of any of its threads. */
  private int tracer(int pid) {
    return proc.threads(pid).stream()
        .mapToInt(ThreadStat::tracerPid)
        .filter(tracer -> tracer != 0)
        .findFirst()
        .orElse(0);
  }

  private Set<String> watches(int pid, List<OpenFile> files) {
    Set<String> watches = new HashSet<>();
    for (OpenFile file : files) {
      if (file.target().equals("anon_inode:inotify")) {
        Matcher watch = WATCH.matcher(info(pid, file));
        while (watch.find()) {
          long device = Long.parseLong(watch.group(1), 16);
          watches.add((device >> MINOR_BITS) + ":" + (device & ((1 << MINOR_BITS) - 1)));
        }
      }
    }
    return watches;
  }

  private String info(int pid, OpenFile file) {
    try {
      return Files.readString(proc.folder(pid).resolve("fdinfo").resolve("" + file.fd()));
    } catch (IOException e) {
      return ""; // Closed meanwhile, or the process has ended.
    }
  }
}
