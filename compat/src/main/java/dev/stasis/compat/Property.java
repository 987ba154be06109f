package dev.stasis.compat;

import java.util.Arrays;
import java.util.Optional;

/**
 * The table of properties that determine where a frozen workload can be restored, with the rule
 * that compares each. A hard mismatch excludes the node; a soft one is only reported.
 */
public enum Property {
  /** Processor architecture in Kubernetes terms, {@code amd64}: machine code runs only there. */
  CPU_ARCHITECTURE("cpu.architecture", Scope.NODE, Rule.EQUAL, true, "cpu-architecture"),

  /**
   * Processor features in the terms of /proc/cpuinfo: libraries choose code by them at start, and
   * crash with SIGILL if one is missing. Additional features are allowed.
   */
  CPU_FEATURES("cpu.features", Scope.NODE, Rule.SUPERSET, true, "cpu-features"),

  /** cgroup version: the file systems below /sys/fs/cgroup, and open files in them, differ. */
  CGROUP_VERSION("kernel.cgroupVersion", Scope.NODE, Rule.EQUAL, true, "kernel-cgroup-version"),

  /** criu version: an older criu cannot read the images of a newer one. */
  CRIU_VERSION("criu.version", Scope.NODE, Rule.AT_LEAST_VERSION, true, "criu-version"),

  /** Compute capability of each GPU, {@code 9.0}: the loaded kernels are compiled for it. */
  GPU_COMPUTE_CAPABILITY(
      "gpu.computeCapability", Scope.GPUS, Rule.EQUAL_EACH, true, "gpu-compute-capability"),

  /** Number of GPUs: the process has a context on each of them. */
  GPU_COUNT("gpu.count", Scope.GPUS, Rule.EQUAL, true),

  /**
   * Version of the GPU driver: the driver's state is in the process, and the paths of its libraries
   * contain the version.
   */
  GPU_DRIVER("gpu.driver", Scope.GPUS, Rule.EQUAL, true, "gpu-driver"),

  /**
   * Connection of each pair of GPUs ({@link Links}): a program tuned for NVLink is very slow over
   * PCIe, and enabled peer access may not be possible. A stronger link is allowed.
   */
  GPU_INTERCONNECT("gpu.interconnect", Scope.GPUS, Rule.LINKS_AT_LEAST, true),

  /** Memory of each GPU in MiB, as the driver reports it: the allocations must fit again. */
  GPU_MEMORY("gpu.memoryMiB", Scope.GPUS, Rule.AT_LEAST_EACH, true, "gpu-memory-mib"),

  /**
   * {@code Enabled} or {@code Disabled} for each GPU: a MIG instance differs from the GPU at the
   * freeze.
   */
  GPU_MIG("gpu.mig", Scope.GPUS, Rule.EQUAL_EACH, true, "gpu-mig"),

  /**
   * Product name of each GPU, in order: device memory and contexts can be restored only on the same
   * chip.
   */
  GPU_MODEL("gpu.model", Scope.GPUS, Rule.EQUAL_EACH, true, "gpu-model"),

  /**
   * Digest or id of the container's image, which contains the files that the process has mapped.
   */
  IMAGE_DIGEST("image.digest", Scope.POD, Rule.EQUAL, true),

  /**
   * Folders of /proc and /sys that container runtimes hide and that the kernel has: criu mounts
   * over each of them again. Required are those that hide something in the workload's container.
   */
  HIDDEN_FOLDERS("kernel.hiddenFolders", Scope.NODE, Rule.SUPERSET, true, "kernel-hidden-folders"),

  /**
   * How many inotify instances a user may have ({@code fs.inotify.max_user_instances}). Required by
   * a workload that has many.
   */
  INOTIFY_INSTANCES(
      "kernel.inotifyInstances", Scope.NODE, Rule.AT_LEAST_EACH, true, "kernel-inotify-instances"),

  /**
   * How many inotify watches a user may have ({@code fs.inotify.max_user_watches}). Required by a
   * workload that has many.
   */
  INOTIFY_WATCHES(
      "kernel.inotifyWatches", Scope.NODE, Rule.AT_LEAST_EACH, true, "kernel-inotify-watches"),

  /** Whether criu can create an io_uring. Required by a workload that has one. */
  IO_URING("kernel.ioUring", Scope.NODE, Rule.WHERE_WANTED, true, "kernel-io-uring"),

  /** Whether pods have IPv6 on their loopback, which IPv6 sockets require. */
  IPV6("kernel.ipv6", Scope.NODE, Rule.WHERE_WANTED, true, "kernel-ipv6"),

  /**
   * Maximum number of mappings of a process ({@code vm.max_map_count}). Required by a workload with
   * more than every kernel allows.
   */
  MAX_MAP_COUNT("kernel.maxMapCount", Scope.NODE, Rule.AT_LEAST_EACH, true, "kernel-max-map-count"),

  /**
   * Whether files in memory may be executable ({@code vm.memfd_noexec} is not 2), by which criu
   * makes shared memory. Wanted by a workload that has some.
   */
  MEMFD_EXEC("kernel.memfdExec", Scope.NODE, Rule.WHERE_WANTED, true, "kernel-memfd-exec"),

  /**
   * Whether programs may ask for more memory than there is ({@code vm.overcommit_memory} is not 2),
   * as every program that uses CUDA does.
   */
  OVERCOMMIT("kernel.overcommit", Scope.NODE, Rule.WHERE_WANTED, true, "kernel-overcommit"),

  /**
   * The first process id that the kernel does not give out ({@code kernel.pid_max}). Wanted by a
   * workload that has a higher one than every kernel gives out.
   */
  PID_MAX("kernel.pidMax", Scope.NODE, Rule.AT_LEAST_EACH, true, "kernel-pid-max"),

  /**
   * How many processes and threads the kubelet lets a pod have ({@code podPidsLimit}). Required by
   * a workload that has more than every node allows.
   */
  POD_PIDS("kubelet.podPidsLimit", Scope.NODE, Rule.AT_LEAST_EACH, true, "kubelet-pod-pids-limit"),

  /**
   * Mounts that the container runtime makes in every container, besides the usual ones: those of
   * the agent's own. Required by a workload that has some.
   */
  RUNTIME_MOUNTS("runtime.mounts", Scope.NODE, Rule.SUPERSET, true, "runtime-mounts"),

  /**
   * Processors with a folder {@code thermal_throttle}, which container runtimes hide one by one.
   * Required where the workload's container has some hidden.
   */
  THROTTLED_CPUS(
      "kernel.throttledCpus", Scope.NODE, Rule.AT_LEAST_EACH, true, "kernel-throttled-cpus"),

  /**
   * Whether the kernel has time namespaces, with which monotonic clocks continue. A workload that
   * leaves its node always requires {@code yes}.
   */
  TIME_NAMESPACES(
      "kernel.timeNamespaces", Scope.NODE, Rule.WHERE_WANTED, true, "kernel-time-namespaces"),

  /**
   * Kernel version, major and minor. Soft: criu checks its own requirements, and most images can be
   * restored on an older kernel.
   */
  KERNEL_VERSION("kernel.version", Scope.NODE, Rule.AT_LEAST_VERSION, false),

  /**
   * Mount points of the container, except those that the container toolkit renames in every
   * container: open files below them are reopened by path.
   */
  MOUNTS("mounts", Scope.POD, Rule.SUPERSET, true);

  private final String key;
  private final Scope scope;
  private final Rule rule;
  private final boolean hard;
  private final Optional<String> label;

  Property(String key, Scope scope, Rule rule, boolean hard) {
    this(key, scope, rule, hard, Optional.empty());
  }

  Property(String key, Scope scope, Rule rule, boolean hard, String label) {
    this(key, scope, rule, hard, Optional.of(NodeFacts.LABEL_PREFIX + label));
  }

  Property(String key, Scope scope, Rule rule, boolean hard, Optional<String> label) {
    this.key = key;
    this.scope = scope;
    this.rule = rule;
    this.hard = hard;
    this.label = label;
  }

  /** The name in the canonical text and in messages. */
  public String key() {
    return key;
  }

  /** The scope of the property. */
  public Scope scope() {
    return scope;
  }

  /** The rule that compares the expected with the actual value. */
  public Rule rule() {
    return rule;
  }

  /** Whether a mismatch excludes the node. */
  public boolean hard() {
    return hard;
  }

  /**
   * The key of the node label for the property; empty for one that belongs to the pod, is soft, or
   * is covered by {@code topology.stasis.dev/gpus-N}.
   */
  public Optional<String> label() {
    return label;
  }

  /** Returns the property with that name; empty for a name of another version of this table. */
  public static Optional<Property> ofKey(String key) {
    return Arrays.stream(values()).filter(property -> property.key.equals(key)).findFirst();
  }
}
