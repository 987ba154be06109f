package dev.stasis.compat;

import java.util.Arrays;
import java.util.Optional;

/**
 * The table: each property that decides whether a frozen workload can come back somewhere, with the
 * rule that compares it. A hard mismatch refuses the place; a soft one is named, and tried.
 */
public enum Property {
  /**
   * Processor architecture as Kubernetes names it, {@code amd64}: machine code runs nowhere else.
   */
  CPU_ARCHITECTURE("cpu.architecture", Scope.NODE, Rule.EQUAL, true, "cpu-architecture"),

  /**
   * Processor features as /proc/cpuinfo names them: libraries have chosen their code by them at
   * their start, and die by SIGILL where one is missing. More are welcome.
   */
  CPU_FEATURES("cpu.features", Scope.NODE, Rule.SUPERSET, true, "cpu-features"),

  /** Version of criu: an older one does not read the images of a newer one. */
  CRIU_VERSION("criu.version", Scope.NODE, Rule.AT_LEAST_VERSION, true, "criu-version"),

  /** Compute capability of each GPU, {@code 9.0}: the loaded kernels are compiled for it. */
  GPU_COMPUTE_CAPABILITY(
      "gpu.computeCapability", Scope.GPUS, Rule.EQUAL_EACH, true, "gpu-compute-capability"),

  /** Number of GPUs: the process holds a context on each of them. */
  GPU_COUNT("gpu.count", Scope.GPUS, Rule.EQUAL, true),

  /**
   * Version of the GPU driver: the driver's state lies in the process, and each of its libraries is
   * mounted at a path that holds the version.
   */
  GPU_DRIVER("gpu.driver", Scope.GPUS, Rule.EQUAL, true, "gpu-driver"),

  /**
   * How each pair of the GPUs is linked ({@link Links}): what was tuned for NVLink crawls over
   * PCIe, and peer access that was enabled may not be possible. A stronger link is welcome.
   */
  GPU_INTERCONNECT("gpu.interconnect", Scope.GPUS, Rule.LINKS_AT_LEAST, true),

  /** Memory of each GPU in MiB, as the driver gives it: what was allocated has to fit again. */
  GPU_MEMORY("gpu.memoryMiB", Scope.GPUS, Rule.AT_LEAST_EACH, true, "gpu-memory-mib"),

  /** {@code Enabled} or {@code Disabled} for each GPU: a slice is not the GPU that was frozen. */
  GPU_MIG("gpu.mig", Scope.GPUS, Rule.EQUAL_EACH, true, "gpu-mig"),

  /** Product name of each GPU, in order: device memory and contexts come back on that chip only. */
  GPU_MODEL("gpu.model", Scope.GPUS, Rule.EQUAL_EACH, true, "gpu-model"),

  /** Digest or id of the container's image: the files that the process has mapped lie in it. */
  IMAGE_DIGEST("image.digest", Scope.POD, Rule.EQUAL, true),

  /**
   * Whether the kernel has time namespaces, by which monotonic clocks go on. What leaves its node
   * always wants {@code yes}.
   */
  TIME_NAMESPACES(
      "kernel.timeNamespaces", Scope.NODE, Rule.WHERE_WANTED, true, "kernel-time-namespaces"),

  /**
   * Kernel version, major and minor. Soft: criu checks what it needs by itself, and most images
   * come back on an older kernel.
   */
  KERNEL_VERSION("kernel.version", Scope.NODE, Rule.AT_LEAST_VERSION, false),

  /**
   * Paths at which the container has something mounted, without those that the container toolkit
   * names anew in every container: open files below them are found again by path.
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

  /** What the property belongs to. */
  public Scope scope() {
    return scope;
  }

  /** The rule that compares what is wanted with what is found. */
  public Rule rule() {
    return rule;
  }

  /** Whether a mismatch refuses the place. */
  public boolean hard() {
    return hard;
  }

  /**
   * The key of the node label that holds the property; empty for one that is no node's own (the
   * pod's), that is soft, or that {@code topology.stasis.dev/gpus-N} says by itself.
   */
  public Optional<String> label() {
    return label;
  }

  /** The property of that name; empty for a name of another version of this table. */
  public static Optional<Property> ofKey(String key) {
    return Arrays.stream(values()).filter(property -> property.key.equals(key)).findFirst();
  }
}
