package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.process.IoUringSupport;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.artifact.NodeFacts;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/** Reads the facts about the workload's node for an artifact. */
public final class NodeFactsReader {

  /** {@code ::1} in the kernel's table of addresses. */
  private static final String LOOPBACK = "0".repeat(31) + "1";

  private final Path proc;
  private final String criuVersion;

  public NodeFactsReader(Path proc, String criuVersion) {
    this.proc = proc;
    this.criuVersion = criuVersion;
  }

  public NodeFacts read(NodeGpus gpus) {
    return new NodeFacts(
        text("sys/kernel/hostname"),
        text("sys/kernel/osrelease"),
        System.getProperty("os.arch", "unknown").replace("amd64", "x86_64"),
        cpuFeatures(),
        criuVersion,
        gpus.driverVersion().isEmpty() ? null : gpus.driverVersion(),
        gpus.cudaVersion() == 0 ? null : gpus.cudaVersion());
  }

  /** Returns the facts as a fingerprint: the offer of a node, or requirements for another one. */
  public Fingerprint host(NodeFacts facts) {
    return Fingerprint.empty()
        .with(
            Property.CPU_ARCHITECTURE,
            facts.architecture().replace("x86_64", "amd64").replace("aarch64", "arm64"))
        .with(Property.CPU_FEATURES, facts.cpuFeatures())
        .with(Property.CRIU_VERSION, facts.criuVersion())
        .with(Property.CGROUP_VERSION, Integer.toString(cgroupVersion()))
        .with(Property.IO_URING, yesOrNo(new IoUringSupport(proc).exists()))
        .with(Property.INOTIFY_INSTANCES, text("sys/fs/inotify/max_user_instances"))
        .with(Property.INOTIFY_WATCHES, text("sys/fs/inotify/max_user_watches"))
        .with(Property.IPV6, yesOrNo(hasIpv6()))
        .with(Property.MAX_MAP_COUNT, text("sys/vm/max_map_count"))
        .with(Property.MEMFD_EXEC, yesOrNo(!isTwo("sys/vm/memfd_noexec")))
        .with(Property.OVERCOMMIT, yesOrNo(!isTwo("sys/vm/overcommit_memory")))
        .with(Property.PID_MAX, text("sys/kernel/pid_max"))
        .with(
            Property.POD_PIDS,
            Long.toString(new PodPidsLimit(proc.resolve("self/root/sys/fs/cgroup")).read()))
        .with(
            Property.RUNTIME_MOUNTS,
            new NodeMounts(new ProcFs(proc)).offered().paths().stream().sorted().toList())
        .with(Property.TIME_NAMESPACES, yesOrNo(hasTimeNamespaces()))
        .and(new HiddenFolders().offered(proc));
  }

  /** On the loopback of the agent's own pod, as in every pod of the node. */
  private boolean hasIpv6() {
    Path table = proc.resolve("self/net/if_inet6");
    return Files.exists(table) && text("self/net/if_inet6").contains(LOOPBACK);
  }

  /** False where the kernel has no such setting. */
  private boolean isTwo(String setting) {
    return Files.exists(proc.resolve(setting)) && text(setting).equals("2");
  }

  private static String yesOrNo(boolean value) {
    return value ? "yes" : "no";
  }

  /** 2 if that is the only hierarchy. */
  private int cgroupVersion() {
    return text("self/cgroup").lines().allMatch(line -> line.startsWith("0::")) ? 2 : 1;
  }

  public boolean hasTimeNamespaces() {
    return Files.exists(proc.resolve("self/ns/time"));
  }

  /** The flags of the first CPU; all CPUs of a machine have the same. */
  Set<String> cpuFeatures() {
    Set<String> features = new TreeSet<>();
    text("cpuinfo")
        .lines()
        .filter(line -> line.startsWith("flags") || line.startsWith("Features"))
        .findFirst()
        .ifPresent(
            line ->
                features.addAll(
                    Arrays.asList(line.substring(line.indexOf(':') + 1).trim().split("\\s+"))));
    return features;
  }

  private String text(String name) {
    try {
      return new ProcFs(proc).setting(name);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + proc.resolve(name), e);
    }
  }
}
